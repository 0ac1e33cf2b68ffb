"""Which commits of an agent belong together, as its result says, and what to call them."""

from collections.abc import Sequence

from msgspec import Struct

from mngr_tmr.model.record import TaskRecord

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
    by_change: dict[int | str, list[str]] = {}
    changes = record.claim.result.changes if record.claim and record.claim.result else ()
    for commit in commits:
        numbers = (
            number
            for number, change in enumerate(changes)
            if any(len(named) >= _SHORTEST_ID and commit.startswith(named) for named in change.commits)
        )
        by_change.setdefault(next(numbers, commit), []).append(commit)
    known = {commit.id: commit for commit in record.commits}
    groups = []
    for key, together in by_change.items():
        is_mislabelled = any(known[commit].is_mislabelled for commit in together if commit in known)
        title = next((known[commit].subject for commit in together if commit in known), "")
        if isinstance(key, int):
            change = changes[key]
            title = title or change.summary.strip().partition("\n")[0]
            words = (title, change.summary, change.reason, change.importance)
            groups.append(CommitGroup(tuple(together), *words, is_mislabelled))
        else:
            title = title or f"a change for {record.task.node_id}"
            groups.append(CommitGroup(tuple(together), title, is_mislabelled=is_mislabelled))
    return groups


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
