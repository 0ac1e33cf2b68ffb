"""The orchestrator of agents in containers is killed and resumed: nothing is lost, and no container is left."""

import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import pytest
from tests.cli.command import ARGV
from tests.support.docker import engine
from tests.tmr.test_elsewhere import Yard, yard

from mngr.hosts.labels import AGENT
from mngr.model.agent import AgentSpec
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S
from mngr_tmr.engine.journal import read_journal
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import AgentLaunched
from mngr_tmr.run.polling import TASK
from mngr_tmr.run_folder.folder import RunFolder

__all__ = ["engine", "yard"]

pytestmark = pytest.mark.slow

_TASKS = {"test_add_keeps_the_amount": "implementation", "test_help_succeeds": "other"}
_RUN = (
    *("-S", "tmr.silence=60s", "-S", "tmr.grace=2s", "-S", "tmr.verify_runs=1", "tmr", "run", "tests"),
    *("--name", "r1", "--type", "scripted", "--slots", "2", "--provider", "docker"),
    *("--integrator", "mechanical"),
)
_RESUME = ("tmr", "resume", "r1")


@pytest.mark.accept("Q1", "P10", "P12", "L2")
def test_a_killed_run_in_containers_is_resumed_without_loss_or_litter(yard: Yard) -> None:
    for name in _TASKS:
        _begin_slowly(yard.loop.plays / f"{name}.json")
    run = (*_RUN, "--arg", f"{yard.loop.plays}/{{test}}.json", "--", "-k", "add_keeps or help_succeeds")
    journal = Path(RunFolder(f"{yard.loop.example.repo}/.mngr/tmr/r1").journal)

    with _starts_and_ends(yard) as seen:
        _kill_when(yard, run, lambda: _is_launching(journal) and _tasks(yard))
        _kill_when(yard, _RESUME, lambda: bool(_launches(journal)))
        resumed = yard.loop.mngr(*_RESUME)
    assert resumed.code == 8, resumed
    sections = yard.loop.sections()
    assert {name: sections[name] for name in _TASKS} == _TASKS
    created = Counter(
        entry.task
        for entry in _launches(journal)
        if not (isinstance(entry.fact, AgentLaunched) and entry.fact.adopted)
    )
    assert max(created.values()) == 1
    launched = {entry.task for entry in _launches(journal)}
    assert _most_at_once(seen) == dict.fromkeys(launched, 1), "one container for a task at any time"
    assert launched == {task for task, action in seen if action == "start"}
    assert yard.containers == [], "a host ends when its work is home"

    assert yard.loop.mngr("list", "--running", "--format", "{name}").stdout == ""
    assert yard.loop.mngr("tmr", "delete", "r1", "--yes").code == 0
    assert (yard.containers, yard.kept) == ([], [])


def _begin_slowly(play: Path) -> None:
    """Gives the agent a rest at its start, so that it outlives whoever launched it."""
    steps = msgspec.json.decode(play.read_bytes())
    play.write_bytes(msgspec.json.encode([{"sleep": 3.0}, *steps]))


def _kill_when(yard: Yard, words: tuple[str, ...], condition: Callable[[], object]) -> None:
    """One life of the orchestrator, ended with KILL as soon as the condition holds."""
    child = subprocess.Popen(
        [*ARGV, *words],
        cwd=yard.loop.example.repo,
        env=yard.loop.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert wait_until(lambda: bool(condition()) or child.poll() is not None, PATIENCE_S)
        assert child.poll() is None, "it came to its end before it could be killed"
    finally:
        child.kill()
        child.communicate()
    assert wait_until(lambda: not _is_asking(yard), PATIENCE_S)


def _is_asking(yard: Yard) -> bool:
    """Whether a client that outlived the orchestrator is still making a container."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = file.read_bytes().split(b"\0")
            if b"run" in words and any(word.startswith(f"{yard.namespace}-".encode()) for word in words):
                return True
    return False


def _entries(journal: Path) -> tuple[Entry, ...]:
    return read_journal(str(journal)) if journal.exists() else ()


def _is_launching(journal: Path) -> bool:
    return any((entry.step, entry.kind) == ("launch", "intended") for entry in _entries(journal))


def _launches(journal: Path) -> list[Entry]:
    return [entry for entry in _entries(journal) if (entry.step, entry.kind) == ("launch", "done")]


def _tasks(yard: Yard) -> list[str]:
    """The task of every container that was made for one."""
    shown = ("--filter", f"label=mngr.namespace={yard.namespace}", "--format", f'{{{{.Label "{AGENT}"}}}}')
    labels = yard.engine.docker("ps", "-a", *shown).check("docker ps").text.splitlines()
    return [task for label in labels if (task := _task_of(label))]


def _task_of(label: str) -> str:
    return msgspec.json.decode(label, type=AgentSpec).labels.get(TASK, "") if label else ""


@contextmanager
def _starts_and_ends(yard: Yard) -> Iterator[list[tuple[str, str]]]:
    """What the engine tells meanwhile of containers with a task: which task, and `start` or `die`, in order."""
    only = ("type=container", "event=start", "event=die", f"label=mngr.namespace={yard.namespace}")
    filters = [word for text in only for word in ("--filter", text)]
    words = ("docker", "--host", yard.engine.address, "events", *filters, "--format", "{{json .}}")
    seen: list[tuple[str, str]] = []
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as client:
        try:
            yield seen
        finally:
            client.terminate()
        assert client.stdout
        for line in client.stdout:
            event = msgspec.json.decode(line)
            if task := _task_of(event["Actor"]["Attributes"].get(AGENT, "")):
                seen.append((task, event["Action"]))


def _most_at_once(seen: list[tuple[str, str]]) -> dict[str, int]:
    """How many containers a task had at the same time, at the most."""
    now: Counter[str] = Counter()
    most: dict[str, int] = {}
    for task, action in seen:
        now[task] += 1 if action == "start" else -1
        most[task] = max(most.get(task, 0), now[task])
    return most
