"""Splits agents' commits into changes: one for a task's tests and docs, one for each of its implementation fixes."""

from collections.abc import Collection, Sequence

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
    """The changes of all tasks, and accounts of the commits that are in none of them."""

    changes: tuple[TaskChange, ...]
    accounts: tuple[Account, ...]


def split(repo: Repository, run: RunSpec, records: Sequence[TaskRecord]) -> SplitWork:
    """Splits the branch of every candidate. A commit that mixes kinds is split by path."""
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
        made = _changes_of(repo, run, record, history)
        changes += made
        held = {commit for change in made for source in change.sources for commit in source.commits}
        left = tuple(step.id for step in history.steps if step.id not in held)
        if left:
            why = "commits of its own undo it, or it is empty"
            accounts.append(Account(record.task.slug, "nothing", why, left))
        elif not history.steps:
            accounts.append(Account(record.task.slug, "nothing", "its branch is the base commit"))
    return SplitWork(tuple(changes), tuple(accounts))


def _changes_of(
    repo: Repository, run: RunSpec, record: TaskRecord, history: BranchHistory
) -> list[TaskChange]:
    """One change with all that is not implementation, and one for each fix; fixes that cannot be separated are one."""
    changes: list[TaskChange] = []
    fixes = [file for file in history.files if kind_of(file, run) == "implementation"]
    others = [file for file in history.files if file not in fixes]
    if others:
        paths = {file.path for file in others}
        kind = commit_kind(sorted(paths), run.options.implementation, run.tutorial)
        group = join_groups(record, _commits_of(history, paths))
        changes.append(_change(record, "others", kind, group, whole_part(repo, run.base, history, others)))
    if not fixes:
        return changes
    paths = {file.path for file in fixes}
    commits = _commits_of(history, paths)
    groups = group_fixes(record, commits)
    parts: list[SplitPart] | None = None
    if len(groups) > 1 and not history.has_merges:
        parts = split_groups(repo, run.base, history, [group.commits for group in groups], paths)
    if parts is None:
        groups, parts = [join_groups(record, commits)], [whole_part(repo, run.base, history, fixes)]
    for number, (group, part) in enumerate(zip(groups, parts, strict=True), 1):
        if part.files:
            changes.append(_change(record, f"fix-{number}", "implementation", group, part))
    return changes


def _commits_of(history: BranchHistory, paths: Collection[str]) -> list[str]:
    return [step.id for step in history.steps if any(file.path in paths for file in step.files)]


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
