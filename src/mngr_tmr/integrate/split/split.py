"""Agents' commits cut into pieces: one for a task's tests and docs, one for each of its implementation fixes."""

from collections.abc import Sequence

from msgspec import Struct

from mngr_tmr.git import Repository
from mngr_tmr.integrate.split.change import ChangeSource, TaskChange
from mngr_tmr.integrate.split.commit_groups import CommitGroup, group_fixes, join_groups
from mngr_tmr.integrate.split.history import BranchHistory, kind_of, read_histories
from mngr_tmr.integrate.split.split_groups import SplitPart, split_groups, whole_part
from mngr_tmr.model.integration import Account
from mngr_tmr.model.kind import commit_kind
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.result import ChangeKind
from mngr_tmr.model.run import RunSpec


class SplitWork(Struct, frozen=True):
    """The pieces of all tasks, and accounts of what no piece holds."""

    changes: tuple[TaskChange, ...]
    accounts: tuple[Account, ...]


def split(repo: Repository, run: RunSpec, records: Sequence[TaskRecord]) -> SplitWork:
    """Pieces of every candidate's branch. A commit that mixes kinds is cut by path."""
    tips = {record.task.slug: record.commit or record.commits[-1].id for record in records}
    histories = read_histories(repo, run.base, tips)
    changes: list[TaskChange] = []
    accounts: list[Account] = []
    for record in records:
        history = histories[record.task.slug]
        if history.problem:
            commits = tuple(commit.id for commit in record.commits)
            accounts.append(Account(record.task.slug, "excluded", history.problem, commits))
            continue
        made = [*_others(repo, run, record, history), *_fixes(repo, run, record, history)]
        changes += made
        accounts += _left_over(record, history, made)
    return SplitWork(tuple(changes), tuple(accounts))


def _left_over(record: TaskRecord, history: BranchHistory, changes: Sequence[TaskChange]) -> list[Account]:
    held = {commit for change in changes for source in change.sources for commit in source.commits}
    left = tuple(step.id for step in history.steps if step.id not in held)
    if not left and history.steps:
        return []
    why = "commits of its own undo it, or it is empty" if left else "its branch is the base commit"
    return [Account(record.task.slug, "nothing", why, left)]


def _others(repo: Repository, run: RunSpec, record: TaskRecord, history: BranchHistory) -> list[TaskChange]:
    """What is not implementation, all of a task's in one piece."""
    files = [file for file in history.files if kind_of(file, run) != "implementation"]
    if not files:
        return []
    paths = {file.path for file in files}
    commits = [step.id for step in history.steps if any(file.path in paths for file in step.files)]
    kind = commit_kind(sorted(paths), run.options.implementation, run.tutorial)
    group = join_groups(record, commits)
    return [_change(record, "others", kind, group, whole_part(repo, run.base, history, files))]


def _fixes(repo: Repository, run: RunSpec, record: TaskRecord, history: BranchHistory) -> list[TaskChange]:
    """The implementation part, a piece for each change; what cannot be taken apart stays one."""
    files = [file for file in history.files if kind_of(file, run) == "implementation"]
    if not files:
        return []
    paths = {file.path for file in files}
    commits = [step.id for step in history.steps if any(file.path in paths for file in step.files)]
    groups = group_fixes(record, commits)
    parts = None
    if len(groups) > 1 and not history.has_merges:
        parts = split_groups(repo, run.base, history, [group.commits for group in groups], paths)
    if parts is None:
        groups, parts = [join_groups(record, commits)], [whole_part(repo, run.base, history, files)]
    return [
        _change(record, f"fix-{number}", "implementation", group, part)
        for number, (group, part) in enumerate(zip(groups, parts, strict=True), 1)
        if part.files
    ]


def _change(
    record: TaskRecord, name: str, kind: ChangeKind, group: CommitGroup, part: SplitPart
) -> TaskChange:
    slug = record.task.slug
    before = record.before.verdict if record.before else ""
    source = ChangeSource(
        slug,
        record.task.node_id,
        group.commits,
        is_mislabelled=group.is_mislabelled and kind == "implementation",
        turned_green=before not in ("", "passed", "skipped"),
    )
    return TaskChange(
        id=f"{slug}/{name}",
        kind=kind,
        sources=(source,),
        before=part.before,
        after=part.after,
        files=part.files,
        title=group.title,
        summary=group.summary,
        reason=group.reason,
        importance=min(5, max(1, group.importance)),
        needs=tuple(f"{slug}/fix-{number + 1}" for number in part.needs),
    )
