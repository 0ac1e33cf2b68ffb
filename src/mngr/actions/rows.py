"""Rows: one look at each host, turned into the records everyone sees."""

import os
import time
from datetime import UTC, datetime
from typing import TypeVar

import msgspec
from msgspec import Struct

from mngr.actions.manager import Manager
from mngr.errors import MngrError, UnreachableError
from mngr.hosts.protocol import Host, RunsForOutput, shares_files
from mngr.model.agent import Agent, AgentSpec, AgentState, Creator
from mngr.model.host import HostRef, HostState
from mngr.process import Completed
from mngr.store.fold import Folded, encode_fold
from mngr.store.paths import HostPaths
from mngr.store.probe import EVERY_AGENT, Evidence, HostEvidence, probe_argv, read_probe
from mngr.store.state import Phase, life
from mngr.store.untrusted import Pane
from mngr.tmux.server import attach_argv
from mngr_lib.proc import boot_id, start_of
from mngr_lib.safe_text import PROBLEM_LIMIT, one_line

_FOLD_WHEN_BYTES = 4096
_CREATION_MAY_TAKE_S = 3600
# A look at a thousand agents prints about 1 MB.
_LOOK_LIMIT = 64 << 20
# A look at another host ends by itself so much later than its manager stops waiting.
_WATCHDOG_S = 5
# How long another host may take to answer a list, and one that is acted on.
LIST_S, ACT_S = 3.0, 10.0

T = TypeVar("T")


class Row(Struct, frozen=True):
    """An agent with the evidence behind it and the host to act on."""

    agent: Agent
    host: Host
    evidence: Evidence
    now: float

    @property
    def spec(self) -> AgentSpec:
        if self.evidence.spec is None:
            raise MngrError(
                f'"{self.agent.name}": {self.agent.why}',
                hint=f"mngr destroy {self.agent.id} removes what is left of it",
            )
        # Labels and name change by events; the file never does.
        return msgspec.structs.replace(self.evidence.spec, name=self.agent.name, labels=self.agent.labels)


class Look(Struct, frozen=True):
    """What one host answered, or why it did not."""

    ref: HostRef
    rows: tuple[Row, ...] = ()
    known: tuple[Agent, ...] = ()
    """Rows remembered from an earlier look, when the host does not answer."""
    warning: str = ""
    host: Host | None = None
    """The host itself, when it answered."""


def look_at(
    host: Host, manager: Manager, *, agent_glob: str = EVERY_AGENT, deadline_s: float = 30
) -> tuple[Row, ...]:
    """One process on that host, however many agents it has."""
    argv = probe_argv(HostPaths(host.dir), agent_glob, ends_after_s=watchdog_s(host, deadline_s))
    if isinstance(host, RunsForOutput):
        done = host.run_output(argv, timeout_s=deadline_s)
        if not done.code or done.stdout:
            return rows_from(done, host, manager)
    return rows_from(host.run(argv, timeout_s=deadline_s), host, manager)


def watchdog_s(host: Host, deadline_s: float) -> int:
    """After how many seconds a look there ends by itself; 0 on this machine, where it ends with its manager's call."""
    return 0 if shares_files(host) else int(deadline_s) + _WATCHDOG_S


def rows_from(done: Completed, host: Host, manager: Manager) -> tuple[Row, ...]:
    """What a probe of the host printed, decided; a log that grew long gets a new fold."""
    if done.code != 0 and not done.stdout:
        raise UnreachableError(
            f'host "{host.name}" could not be looked at: {one_line(done.complaint, PROBLEM_LIMIT)}'
        )
    if len(done.stdout) > _LOOK_LIMIT:
        raise UnreachableError(
            f'host "{host.name}" answered a look with {len(done.stdout) >> 20} MB',
            hint="what else writes to its host dir?",
        )
    paths, seen = HostPaths(host.dir), read_probe(done.stdout)
    manager.note_clock(host, seen.now)
    rows = tuple(_row(evidence, seen, host, manager) for evidence in seen.agents)
    for row in rows:
        if row.evidence.has_bad_fold or row.evidence.tail_bytes > _FOLD_WHEN_BYTES:
            # It saves the next look the work; one that cannot be used is replaced by one that says: from the beginning.
            fold = Folded() if row.evidence.has_bad_fold else row.evidence.folded
            try:
                host.write(paths.agent(row.agent.id).fold, encode_fold(fold))
            except MngrError:
                pass  # the log has it all
    return rows


def just_launched(spec: AgentSpec, pid: int, started_at: float, host: Host, manager: Manager) -> Agent:
    """The record of an agent that its launch has just seen alive: what another look would say, without one."""
    evidence = Evidence(
        id=spec.id,
        spec=spec,
        folded=Folded(created=True, started_at=started_at, last_at=started_at),
        pane=Pane(pid, dead=False, exit_code=None, signal=None, dead_at=None, tty="", session=spec.session),
    )
    now = time.time()
    return _row(evidence, HostEvidence("-", now, "running", (evidence,)), host, manager).agent


def look_here(manager: Manager) -> Look:
    """This machine, without a deadline of a list."""
    try:
        ref = next(iter(manager.provider("local").hosts()))
        return Look(ref, look_at(manager.local, manager), host=manager.local)
    except UnreachableError as error:
        return Look(HostRef(state=HostState.UNREACHABLE), warning=error.message)


def agent_of_label(spec: AgentSpec, ref: HostRef) -> Agent:
    """The record of an agent whose host is stopped and bears its spec."""
    return Agent(
        id=spec.id,
        name=spec.name,
        address=_address(spec.name, ref),
        type=spec.type,
        state=AgentState.STOPPED,
        why=ref.stopped_agent,
        labels=spec.labels,
        project=spec.project,
        branch=spec.branch,
        base_commit=spec.base_commit,
        work_dir=spec.work_dir,
        source=spec.source,
        transfer=spec.transfer,
        host=ref,
        session=spec.session,
        created_at=iso(spec.created_at),
    )


def key_of(agent: Agent) -> tuple[str, ...]:
    """What tells agents apart: a host can claim the id of another host's agent."""
    return agent.host.provider, agent.host.name, agent.id


def iso(seconds: float | None) -> str | None:
    """Seconds since the epoch as people and programs read them."""
    if not seconds:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def this_process() -> Creator:
    """Who is creating, so that another mngr can tell whether it still is."""
    pid = os.getpid()
    return Creator(machine=os.uname().nodename, boot=boot_id(), pid=pid, start=start_of(pid))


def is_creator_alive(evidence: Evidence, now: float) -> bool:
    """Whether its creator may still be at work; of another machine it is only known how long ago that began."""
    creator = evidence.spec.creator if evidence.spec else None
    if creator is None:
        return False
    if is_ours(creator):
        return is_alive(creator)
    return now - evidence.folded.last_at < _CREATION_MAY_TAKE_S


def is_ours(creator: Creator) -> bool:
    """Whether it is, or was, a process of this machine since its last boot."""
    ours = this_process()
    return (creator.machine, creator.boot) == (ours.machine, ours.boot)


def is_alive(creator: Creator) -> bool:
    return start_of(creator.pid) == creator.start


def _row(evidence: Evidence, seen: HostEvidence, host: Host, manager: Manager) -> Row:
    phase = life(evidence, seen, creator_alive=is_creator_alive(evidence, seen.now))
    spec = evidence.spec
    if phase.state == AgentState.RUNNING and spec and spec.type != "command":
        try:
            phase = manager.phase(spec.type, evidence, seen.now)
        except MngrError as error:
            phase = Phase(AgentState.UNKNOWN, f"alive, but its type cannot say more: {error.message}")
    if evidence.folded.skipped:
        unread = f"{evidence.folded.skipped / (1 << 20):.1f} MB of its log were too much to read"
        phase = msgspec.structs.replace(phase, why=f"{phase.why}; {unread}")
    return Row(_agent(evidence, phase, host), host, evidence, seen.now)


def _agent(evidence: Evidence, phase: Phase, host: Host) -> Agent:
    spec, folded = evidence.spec, evidence.folded
    ref = HostRef(host.name, host.provider, HostState.RUNNING)
    if spec is None:
        name = folded.name or evidence.id
        session = evidence.pane.session if evidence.pane else ""
        return Agent(
            evidence.id, name, _address(name, ref), "", phase.state, why=phase.why, host=ref, session=session
        )
    name = folded.name or spec.name
    session = evidence.pane.session if evidence.pane else spec.prefix + name
    return Agent(
        id=evidence.id,
        name=name,
        address=_address(name, ref),
        type=spec.type,
        state=phase.state,
        waiting_reason=phase.waiting_reason,
        why=phase.why,
        exit_code=phase.exit_code,
        signal=phase.signal,
        labels=spec.labels if folded.labels is None else folded.labels,
        project=spec.project,
        branch=spec.branch,
        base_commit=spec.base_commit,
        work_dir=spec.work_dir,
        source=spec.source,
        transfer=spec.transfer,
        host=ref,
        session=session,
        attach=host.attach_argv(attach_argv(HostPaths(host.dir), session)),
        result=evidence.result,
        model_error=folded.error,
        created_at=iso(spec.created_at),
        started_at=iso(folded.started_at),
        ended_at=iso(phase.ended_at),
    )


def _address(name: str, ref: HostRef) -> str:
    return name if ref.provider == "local" else f"{name}@{ref.address}"
