"""A fresh working copy of one commit on a host of the run's kind, with the run's setup done in it."""

import io
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import msgspec
from msgspec import Struct

import mngr
from mngr_tmr.copies.facts import PytestFacts, read_facts
from mngr_tmr.copies.hosts import host_words
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.slug import agent_name
from mngr_tmr.publish.helper import helper_config, helper_setup

RUN_LABEL, COMMIT_LABEL = "tmr.copy", "tmr.commit"
TIMED_OUT = 124
_FACTS_LIMIT = 64 << 20
_OUTPUT_LIMIT = 1 << 20
# The helper on the host keeps the deadline itself; ours is for a host that went silent.
_SILENT_HOST_S = 60.0


class PytestRequest(Struct, frozen=True):
    """What pytest shall do: run only these tests (None: all), look only into these files (None: all).

    With `reads` it is noted which files each test reads.
    """

    node_ids: tuple[str, ...] | None = msgspec.field(default=None, name="wanted")
    files: tuple[str, ...] | None = None
    run: str = ""
    reads: bool = False


class PytestResult(Struct, frozen=True):
    """How a command in a copy ended: its exit code and the end of its output, both streams in order."""

    code: int
    output: str
    facts: PytestFacts = PytestFacts()

    @property
    def timed_out(self) -> bool:
        return self.code == TIMED_OUT


class Copy:
    """A working copy that is open; `open_copy` makes it."""

    def __init__(self, run: RunSpec, commit: str, agent: mngr.Agent, manager: mngr.Manager | None) -> None:
        self.commit = commit
        self._run, self.agent, self._manager = run, agent, manager

    def pytest(self, args: Sequence[str], ask: PytestRequest, timeout_s: float) -> PytestResult:
        """Runs the project's pytest with these arguments; at the deadline it ends with all its children."""
        argv = ("mngr-result", "judge", "--timeout", f"{timeout_s:g}", "--", *args)
        return self._exec(argv, timeout_s + _SILENT_HOST_S, msgspec.json.encode(ask))

    def command(self, script: str, timeout_s: float) -> PytestResult:
        """Runs shell lines where pytest would run."""
        place = shlex.quote(os.path.join(".", self._run.folder))
        return self._exec(("sh", "-c", f"cd {place} && {{ {script}\n}} >&2"), timeout_s)

    def pull_outbox(self, to: str) -> None:
        """Pulls what the tests handed over, their artifacts above all, into `to`/NAME."""
        mngr.pull_outbox(self.agent, to, manager=self._manager)

    def empty_outbox(self) -> None:
        """Removes what the tests handed over so far."""
        self._exec(("sh", "-c", 'cd "$MNGR_OUTBOX" && rm -rf -- ./*'), _SILENT_HOST_S)

    def close(self) -> None:
        """Ends all that runs in it and removes it. Commits made in it meanwhile are forgotten."""
        home = shlex.quote(f"refs/heads/{self.agent.branch}")
        script = f"git symbolic-ref HEAD {home} && git update-ref {home} {shlex.quote(self.commit)}"
        with suppress(mngr.MngrError):
            self._exec(("sh", "-c", script), _SILENT_HOST_S)
        with suppress(mngr.NotFoundError):
            mngr.destroy(self.agent, manager=self._manager)

    def _exec(self, argv: Sequence[str], timeout_s: float, stdin: bytes = b"") -> PytestResult:
        output, facts = _Tail(_OUTPUT_LIMIT), _Tail(_FACTS_LIMIT)
        try:
            code = mngr.exec_in(
                self.agent,
                argv,
                timeout_s=timeout_s,
                stdin=io.BytesIO(stdin),
                on_output=lambda stream, data: (facts if stream == "stdout" else output).add(data),
                manager=self._manager,
            )
        except mngr.TimedOutError:
            code = TIMED_OUT
        return PytestResult(code, output.text, read_facts(facts.data))


@contextmanager
def open_copy(
    run: RunSpec, commit: str, env: Mapping[str, str] | None = None, manager: mngr.Manager | None = None
) -> Iterator[Copy]:
    """Makes a copy of the commit, and destroys it at the end whatever happened. A setup that fails is a MngrError.

    Of our own environment only what every agent has reaches it, and `env`.
    """
    options, own = run.options, f"{commit[:10]}-{os.urandom(3).hex()}"
    try:
        agent = mngr.create(
            agent_name("tmr", run.id, "copy", own),
            type="command",
            args=("cat",),
            source=run.repo,
            transfer=options.transfer,
            branch=f"{commit}:tmr/{run.id}/copy-{own}",
            setup=helper_setup(options.setup, helper_config(run)),
            env=dict(env or {}),
            **host_words(options, manager),
            labels={**options.labels, **mngr.owner_labels(), RUN_LABEL: run.id, COMMIT_LABEL: commit[:12]},
            manager=manager,
        ).agent
    except mngr.AgentDiedError as error:
        mngr.destroy(error.change.agent, manager=manager)
        raise
    copy = Copy(run, commit, agent, manager)
    try:
        yield copy
    finally:
        copy.close()


def destroy_copies(run_id: str, manager: mngr.Manager | None = None, *, unfinished: bool = True) -> int:
    """Destroys the copies that a killed run left behind, `unfinished` ones too; says how many."""
    found = mngr.list_agents(mngr.Filter(labels=(f"{RUN_LABEL}={run_id}",)), manager=manager).agents
    left = [agent for agent in found if unfinished or agent.state != mngr.AgentState.CREATING]
    return len(mngr.destroy(left, manager=manager)) if left else 0


def remove_garbage_of_copies(run: RunSpec, manager: mngr.Manager | None = None) -> None:
    """Removes what was left of copies whose creation and removal met."""
    copies = f"{agent_name('tmr', run.id, 'copy')}-"
    left = [item for item in mngr.find_garbage(manager=manager) if copies in item.what]
    if left:
        mngr.remove_garbage(left, manager=manager)


class _Tail:
    """The end of a stream, no longer than a limit."""

    def __init__(self, limit: int) -> None:
        self._limit, self._kept = limit, bytearray()

    def add(self, data: bytes) -> None:
        self._kept += data
        if len(self._kept) > 2 * self._limit:
            del self._kept[: -self._limit]

    @property
    def data(self) -> bytes:
        return bytes(self._kept[-self._limit :])

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")
