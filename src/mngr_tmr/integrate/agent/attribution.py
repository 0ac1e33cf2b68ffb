"""Whose work is in a branch that an agent built: read from the lines it changes and from the trailers it wrote."""

import os
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.git import Repository
from mngr_tmr.integrate.branch.commit_messages import TASK
from mngr_tmr.integrate.branch.final_commits import Finished
from mngr_tmr.integrate.branch.plan import Plan
from mngr_tmr.integrate.gates.gates import Judged
from mngr_tmr.integrate.split.change import Source, Unit
from mngr_tmr.integrate.split.diffs import FileChange
from mngr_tmr.integrate.split.history import Step, kind_of, read_histories
from mngr_tmr.integrate.split.split_groups import holding
from mngr_tmr.model.integration import Account
from mngr_tmr.model.run import RunSpec

_FORMAT = f"%H%x00%s%x00%(trailers:key={TASK},valueonly,unfold,separator=%x20)"
_NOBODY = "integrator"


class Credited(Struct, frozen=True):
    """An agent's branch as a plan; `holders` maps pieces of the tasks to the agent's pieces that hold them."""

    plan: Plan = Plan()
    holders: dict[str, tuple[str, ...]] = {}
    problem: str = ""


class Said(Struct, frozen=True):
    """What a commit of the agent says of itself."""

    title: str = ""
    tasks: frozenset[str] = frozenset()


def read_branch(repo: Repository, run: RunSpec, tip: str, units: Sequence[Unit]) -> Credited:
    """The agent's commits as pieces, in its order, credited to the tasks whose work they hold."""
    history = read_histories(repo, run.base, {_NOBODY: tip})[_NOBODY]
    if history.problem or not history.steps:
        return Credited(problem=history.problem or "it committed nothing")
    if history.has_merges:
        return Credited(problem="its branch has merge commits")
    said = _said(repo, run.base, tip)
    own: list[Unit] = []
    for number, step in enumerate(history.steps, 1):
        words = said.get(step.id, Said())
        for kind in ("others", "fix"):
            files = [
                file for file in step.files if (kind_of(file, run) == "implementation") == (kind == "fix")
            ]
            if files:
                own.append(_unit(repo, f"{_NOBODY}/{kind}-{number}", step, files, words))
    holders = {unit.id: _holders(unit, own, said) for unit in units}
    credited = [_credit(piece, units, holders) for piece in own]
    others = tuple(unit for unit in credited if not unit.is_implementation)
    return Credited(Plan(others, tuple(unit for unit in credited if unit.is_implementation)), holders)


def account_for_agent(
    units: Sequence[Unit], branch: Credited, judged: Judged, done: Finished
) -> tuple[Account, ...]:
    """Where each task's work is on the branch that the agent built."""
    makers = {unit.id: unit.tasks[0] for unit in (*branch.plan.others, *branch.plan.fixes)}
    return tuple(_account(unit, branch.holders[unit.id], makers, judged, done) for unit in units)


def _account(
    unit: Unit, holders: Sequence[str], makers: dict[str, str], judged: Judged, done: Finished
) -> Account:
    task, commits = unit.sources[0].task, unit.sources[0].commits
    there = [holder for holder in holders if holder in done.commits]
    if there:
        into = done.commits[there[0]]
        if not unit.is_implementation:
            return Account(task, "squashed", "", commits, into)
        if makers[there[0]] == task:
            return Account(task, "separate", "", commits, into)
        return Account(task, "merged_into", f"the fix of {makers[there[0]]} holds it", commits, into)
    why = next((judged.dropped[holder] for holder in holders if holder in judged.dropped), "")
    lost = f"it was in {len(holders)} commits of the integrator that do not apply" if holders else ""
    return Account(task, "excluded", why or lost or "the integrator left it out", commits)


def _unit(repo: Repository, name: str, step: Step, files: Sequence[FileChange], said: Said) -> Unit:
    after = holding(repo, step.parent, step.id, step.files, files)
    return Unit(
        id=name,
        kind="implementation" if "/fix-" in name else "test",
        sources=(Source(_NOBODY, _NOBODY, (step.id,)),),
        before=step.parent,
        after=after,
        files=tuple(files),
        title=said.title,
    )


def _credit(piece: Unit, units: Sequence[Unit], holders: dict[str, tuple[str, ...]]) -> Unit:
    """The agent's piece with the tasks whose work it holds as its sources."""
    held = [unit for unit in units if piece.id in holders[unit.id]]
    if not held:
        return piece
    sources = tuple(source for unit in held for source in unit.sources)
    importance = max(unit.importance for unit in held)
    summary = "\n\n".join(unit.summary for unit in held if unit.summary.strip())
    return replace(piece, sources=sources, importance=importance, summary=summary)


def _holders(unit: Unit, own: Sequence[Unit], said: dict[str, Said]) -> tuple[str, ...]:
    """The agent's pieces with all lines of a task's piece between them, else those that name the task."""
    wanted = _lines(unit.files)
    same = [piece for piece in own if piece.is_implementation == unit.is_implementation]
    holding_some = [piece for piece in same if not wanted.isdisjoint(_lines(piece.files))]
    if holding_some and wanted <= set().union(*(_lines(piece.files) for piece in holding_some)):
        return tuple(piece.id for piece in holding_some)
    named = [piece.id for piece in same if unit.tasks[0] in said[piece.sources[0].commits[0]].tasks]
    return tuple(named)


def _lines(files: Iterable[FileChange]) -> frozenset[tuple[str, bytes]]:
    """What files lose and gain, line by line, wherever in the file."""
    found: set[tuple[str, bytes]] = set()
    for file in files:
        if file.hunks is None:
            found.add((file.path, file.new.encode()))
        for hunk in file.hunks or ():
            found |= {(file.path, b"-" + line.strip()) for line in hunk.removed if line.strip()}
            found |= {(file.path, b"+" + line.strip()) for line in hunk.added if line.strip()}
    return frozenset(found)


def _said(repo: Repository, base: str, tip: str) -> dict[str, Said]:
    output = os.fsdecode(repo.ask("log", "-z", f"--format={_FORMAT}", f"{base}..{tip}", "--"))
    fields = output.split("\0")
    rows = [fields[at : at + 3] for at in range(0, len(fields) - 2, 3)]
    return {commit: Said(title, frozenset(names.split())) for commit, title, names in rows}
