"""The tabs of a row: the check at the base, each attempt of its agent with its tries, the check at its commit."""

import os
from collections.abc import Iterable
from hashlib import sha256

from msgspec import Struct

from mngr_e2e.view.attempts import NAME, AttemptFolder, TestRunFolder
from mngr_e2e.view.files import natural, try_entries
from mngr_e2e.view.runs import load_run
from mngr_lib.safe_text import one_line
from mngr_tmr.model.result import Claim
from mngr_view.records import Attempt, AttemptKind, Status

OUTBOX, ARTIFACTS, CHECK = "outbox", "artifacts", "verify"
_RUNS = 100
_LABEL = 100


class AgentTab(Struct, frozen=True):
    """An attempt of the agent; `task` is the folder of all its attempts and `name` that of this one."""

    task: str
    name: str
    number: int

    @property
    def path(self) -> str:
        return os.path.join(self.task, self.name)

    @property
    def key(self) -> str:
        return f"detail/{self._digest}"

    @property
    def cast_key(self) -> str:
        return f"cast/{self._digest}/agent"

    @property
    def _digest(self) -> str:
        """The same wherever the run's folder is."""
        return sha256(f"{os.path.basename(self.task)}/{self.name}".encode()).hexdigest()[:16]


class KitTab(Struct, frozen=True):
    """One test as the test kit recorded it: a try of the agent, which `agent` is, or a check of ours."""

    attempt: AttemptFolder
    label: str
    agent: AgentTab | None = None

    @property
    def key(self) -> str:
        return self.attempt.key

    @property
    def kind(self) -> AttemptKind:
        return "try" if self.agent else "check"


Tab = AgentTab | KitTab


def find_tabs(task: str, claim: Claim | None) -> tuple[Tab, ...]:
    """All tabs of a task's folder in order; `claim` describes the tries of the last attempt."""
    found = [
        AgentTab(task, name, int(match[1])) for name in _folders(task) if (match := NAME.fullmatch(name))
    ]
    found.sort(key=lambda tab: tab.number)
    last = found[-1] if found else None
    result = claim.result if claim else None
    described = {one.name: one.description for one in result.attempts} if result else {}
    tabs: list[Tab] = []
    for agent in found:
        tabs += [agent, *_tries(agent, described if agent is last else {}), *_checks(agent)]
    return tuple(tabs)


def base_tabs(base: str) -> dict[str, tuple[KitTab, ...]]:
    """The checks at the base commit, by the node id of their test."""
    found: dict[str, list[KitTab]] = {}
    for run in _checked_runs(base, os.path.basename(base)):
        for one in load_run(run).attempts.values():
            known = found.setdefault(one.node_id, [])
            known.append(KitTab(one, _numbered("check at the base", len(known) + 1)))
    return {node_id: tuple(tabs) for node_id, tabs in found.items()}


def marks_of(task: str) -> tuple[object, ...]:
    """What changes when a tab comes or goes: an outbox is moved in whole."""
    return tuple(
        (
            entry.name,
            entry.changed_ns,
            tuple((inner.name, inner.changed_ns) for inner in try_entries(task, entry.name)),
        )
        for entry in try_entries(task)
    )


def as_attempts(tabs: Iterable[Tab], status: Status, start: float, duration_s: float) -> tuple[Attempt, ...]:
    """The tabs as the page numbers them. The agent's last attempt has the row's status, an earlier one was cut off."""
    tabs = tuple(tabs)
    last = max((tab.number for tab in tabs if isinstance(tab, AgentTab)), default=0)
    shown: list[Attempt] = []
    for number, tab in enumerate(tabs, 1):
        if isinstance(tab, KitTab):
            one, kind = tab.attempt, tab.kind
            shown.append(Attempt(number, one.status, one.start, one.duration_s, tab.key, tab.label, kind))
        elif tab.number == last:
            label = "agent" if last == 1 else f"agent, attempt {last}"
            shown.append(Attempt(number, status, start, duration_s, tab.key, label, "agent"))
        else:
            label = f"agent, attempt {tab.number}"
            shown.append(Attempt(number, "error", 0.0, 0.0, tab.key, label, "agent"))
    return tuple(shown)


def _tries(agent: AgentTab, described: dict[str, str]) -> Iterable[KitTab]:
    place = (OUTBOX, ARTIFACTS)
    for run in _runs(agent.task, (agent.name, *place), f"{os.path.basename(agent.task)}/{agent.name}"):
        name = os.path.basename(run.path)
        loaded = list(load_run(run).attempts.values())
        for one in loaded:
            words = [name, described.get(name, "")]
            if len(loaded) > 1:
                words.append(one.node_id.rpartition("::")[2] or one.names[0])
            yield KitTab(one, one_line(": ".join(filter(None, words)))[:_LABEL], agent)


def _checks(agent: AgentTab) -> Iterable[KitTab]:
    """What our own check at the agent's commit left; tests that the agent added have theirs here too."""
    if CHECK not in _folders(agent.task, agent.name):
        return
    place = os.path.join(agent.path, CHECK)
    runs = _checked_runs(place, f"{os.path.basename(agent.task)}/{agent.name}/{CHECK}")
    for number, run in enumerate(runs, 1):
        loaded = list(load_run(run).attempts.values())
        for one in loaded:
            name = f": {one.node_id.rpartition('::')[2] or one.names[0]}" if len(loaded) > 1 else ""
            yield KitTab(one, one_line(_numbered("check", number) + name)[:_LABEL])


def _numbered(label: str, number: int) -> str:
    return label if number == 1 else f"{label}, {number}"


def _checked_runs(place: str, name: str) -> Iterable[TestRunFolder]:
    """Each working copy of ours handed over its artifacts in a folder of its own."""
    for copy in _folders(place):
        yield from _runs(place, (copy, ARTIFACTS), f"{name}/{copy}")


def _runs(root: str, names: tuple[str, ...], name: str) -> list[TestRunFolder]:
    """The kit's runs in a folder below `root`, unless a link is on the way to it."""
    path = os.path.join(root, *names)
    runs = [run for run in _folders(root, *names) if run[0] != "."][:_RUNS]
    return [
        TestRunFolder(f"{name}/{one_line(run)}", os.path.join(path, run)) for run in sorted(runs, key=natural)
    ]


def _folders(root: str, *names: str) -> list[str]:
    return [entry.name for entry in try_entries(root, *names) if entry.kind == "folder"]
