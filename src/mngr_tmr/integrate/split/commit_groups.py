"""Which commits of an agent belong together, as its result says, and what to call them."""

from collections.abc import Sequence

from msgspec import Struct

from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.result import Change

_SHORTEST_ID = 7


class CommitGroup(Struct, frozen=True):
    """Commits that make one change, with what the agent says about it."""

    commits: tuple[str, ...]
    title: str
    summary: str = ""
    reason: str = ""
    importance: int = 3
    is_mislabelled: bool = False


def group_fixes(record: TaskRecord, commits: Sequence[str]) -> list[CommitGroup]:
    """One group for each change of the result; a commit that the result does not name stands alone."""
    by_change: dict[object, list[str]] = {}
    for commit in commits:
        number = _change_of(record, commit)
        by_change.setdefault(commit if number is None else number, []).append(commit)
    return [_group(record, tuple(together)) for together in by_change.values()]


def join_groups(record: TaskRecord, commits: Sequence[str]) -> CommitGroup:
    """All of them as one."""
    groups = group_fixes(record, commits)
    if len(groups) == 1:
        return groups[0]
    return CommitGroup(
        tuple(commits),
        "; ".join(dict.fromkeys(group.title for group in groups)),
        "\n\n".join(group.summary for group in groups if group.summary),
        "; ".join(group.reason for group in groups if group.reason),
        max(group.importance for group in groups),
        any(group.is_mislabelled for group in groups),
    )


def _group(record: TaskRecord, commits: tuple[str, ...]) -> CommitGroup:
    number = _change_of(record, commits[0])
    known = {commit.id: commit for commit in record.commits}
    is_mislabelled = any(known[commit].is_mislabelled for commit in commits if commit in known)
    subject = next((known[commit].subject for commit in commits if commit in known), "")
    if number is None:
        return CommitGroup(
            commits, subject or f"a change for {record.task.node_id}", is_mislabelled=is_mislabelled
        )
    change = _changes(record)[number]
    title = subject or change.summary.strip().partition("\n")[0]
    return CommitGroup(commits, title, change.summary, change.reason, change.importance, is_mislabelled)


def _changes(record: TaskRecord) -> tuple[Change, ...]:
    return record.claim.result.changes if record.claim and record.claim.result else ()


def _change_of(record: TaskRecord, commit: str) -> int | None:
    for number, change in enumerate(_changes(record)):
        if any(len(named) >= _SHORTEST_ID and commit.startswith(named) for named in change.commits):
            return number
    return None
