"""Whose work is in a branch that an agent built: read from the lines it changes and from the trailers it wrote."""

import os
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.git import Repository
from mngr_tmr.integrate.branch.commit_messages import TASK
from mngr_tmr.integrate.branch.final_commits import FinalCommits
from mngr_tmr.integrate.branch.plan import BranchPlan
from mngr_tmr.integrate.gates.gates import GateOutcome
from mngr_tmr.integrate.split.change import ChangeSource, TaskChange
from mngr_tmr.integrate.split.diffs import FileDiff
from mngr_tmr.integrate.split.history import kind_of, read_histories
from mngr_tmr.integrate.split.split_groups import commit_with_files
from mngr_tmr.model.integration import Account
from mngr_tmr.model.run import RunSpec

_FORMAT = f"%H%x00%s%x00%(trailers:key={TASK},valueonly,unfold,separator=%x20)"
_INTEGRATOR = "integrator"


class AttributedBranch(Struct, frozen=True):
    """An agent's branch as a plan; `holders` maps changes of the tasks to the agent's changes that hold them."""

    plan: BranchPlan = BranchPlan()
    holders: dict[str, tuple[str, ...]] = {}
    problem: str = ""


class CommitClaims(Struct, frozen=True):
    """What a commit of the agent says of itself."""

    title: str = ""
    tasks: frozenset[str] = frozenset()


def read_branch(repo: Repository, run: RunSpec, tip: str, changes: Sequence[TaskChange]) -> AttributedBranch:
    """The agent's commits as changes, in its order, credited to the tasks whose work they hold."""
    history = read_histories(repo, run.base, {_INTEGRATOR: tip})[_INTEGRATOR]
    if history.problem or not history.steps:
        return AttributedBranch(problem=history.problem or "it committed nothing")
    if history.has_merges:
        return AttributedBranch(problem="its branch has merge commits")
    output = os.fsdecode(repo.ask("log", "-z", f"--format={_FORMAT}", f"{run.base}..{tip}", "--"))
    fields = output.split("\0")
    rows = [fields[at : at + 3] for at in range(0, len(fields) - 2, 3)]
    claims = {commit: CommitClaims(title, frozenset(names.split())) for commit, title, names in rows}
    own: list[TaskChange] = []
    for number, step in enumerate(history.steps, 1):
        words = claims.get(step.id, CommitClaims())
        for kind in ("others", "fix"):
            files = [
                file for file in step.files if (kind_of(file, run) == "implementation") == (kind == "fix")
            ]
            if files:
                name = f"{_INTEGRATOR}/{kind}-{number}"
                after = commit_with_files(repo, step.parent, step.id, step.files, files)
                own.append(
                    TaskChange(
                        id=name,
                        kind="implementation" if "/fix-" in name else "test",
                        sources=(ChangeSource(_INTEGRATOR, _INTEGRATOR, (step.id,)),),
                        before=step.parent,
                        after=after,
                        files=tuple(files),
                        title=words.title,
                    )
                )
    holders = {change.id: _holders(change, own, claims) for change in changes}
    credited = []
    for part in own:
        held = [change for change in changes if part.id in holders[change.id]]
        if held:
            summaries = (change.summary for change in held if change.summary.strip())
            part = replace(
                part,
                sources=tuple(source for change in held for source in change.sources),
                importance=max(change.importance for change in held),
                summary="\n\n".join(summaries),
            )
        credited.append(part)
    others = tuple(change for change in credited if not change.is_implementation)
    return AttributedBranch(
        BranchPlan(others, tuple(change for change in credited if change.is_implementation)), holders
    )


def agent_ledger(
    changes: Sequence[TaskChange], branch: AttributedBranch, judged: GateOutcome, done: FinalCommits
) -> tuple[Account, ...]:
    """Where each task's work is on the branch that the agent built."""
    makers = {change.id: change.tasks[0] for change in (*branch.plan.others, *branch.plan.fixes)}
    return tuple(_account(change, branch.holders[change.id], makers, judged, done) for change in changes)


def _account(
    change: TaskChange,
    holders: Sequence[str],
    makers: dict[str, str],
    judged: GateOutcome,
    done: FinalCommits,
) -> Account:
    task, commits = change.sources[0].task, change.sources[0].commits
    there = [holder for holder in holders if holder in done.commits]
    if there:
        into = done.commits[there[0]]
        if not change.is_implementation:
            return Account(task, "squashed", "", commits, into)
        if makers[there[0]] == task:
            return Account(task, "separate", "", commits, into)
        return Account(task, "merged_into", f"the fix of {makers[there[0]]} holds it", commits, into)
    why = next((judged.dropped[holder] for holder in holders if holder in judged.dropped), "")
    lost = f"it was in {len(holders)} commits of the integrator that do not apply" if holders else ""
    return Account(task, "excluded", why or lost or "the integrator left it out", commits)


def _holders(
    change: TaskChange, own: Sequence[TaskChange], claims: dict[str, CommitClaims]
) -> tuple[str, ...]:
    """The agent's changes with all lines of a task's change between them, else those that name the task."""
    lines = _lines(change.files)
    same = [part for part in own if part.is_implementation == change.is_implementation]
    holding_some = [part for part in same if not lines.isdisjoint(_lines(part.files))]
    if holding_some and lines <= set().union(*(_lines(part.files) for part in holding_some)):
        return tuple(part.id for part in holding_some)
    named = [part.id for part in same if change.tasks[0] in claims[part.sources[0].commits[0]].tasks]
    return tuple(named)


def _lines(files: Iterable[FileDiff]) -> frozenset[tuple[str, bytes]]:
    """What files lose and gain, line by line, wherever in the file."""
    found: set[tuple[str, bytes]] = set()
    for file in files:
        if file.hunks is None:
            found.add((file.path, file.new.encode()))
        for hunk in file.hunks or ():
            found |= {(file.path, b"-" + line.strip()) for line in hunk.removed if line.strip()}
            found |= {(file.path, b"+" + line.strip()) for line in hunk.added if line.strip()}
    return frozenset(found)
