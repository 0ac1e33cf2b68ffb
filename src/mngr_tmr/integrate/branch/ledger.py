"""The ledger: where every task's work went, so that each commit is accounted for."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from mngr_tmr.agent_text import one_line
from mngr_tmr.integrate.branch.conflict import Conflict
from mngr_tmr.integrate.split.change import TaskChange
from mngr_tmr.model.integration import Account


class ChangeFates(Struct, frozen=True):
    """What became of the changes: by id the commit, those that hold it, the conflict, the reason it was dropped."""

    commits: Mapping[str, str] = {}
    holders: Mapping[str, tuple[str, ...]] = {}
    conflicts: Mapping[str, Conflict] = {}
    dropped: Mapping[str, str] = {}


def ledger_of(changes: Sequence[TaskChange], where: ChangeFates) -> tuple[Account, ...]:
    """An account for each change as it was split, before equal ones were joined."""
    makers = {change.id: change.tasks[0] for change in changes}
    return tuple(_account(change, where, makers) for change in changes)


def _account(change: TaskChange, where: ChangeFates, makers: Mapping[str, str]) -> Account:
    task, commits = change.sources[0].task, change.sources[0].commits
    why = _left_out(change.id, where)
    if why:
        return Account(task, "excluded", why, commits)
    holders = where.holders.get(change.id, ())
    if change.is_implementation and holders:
        lost = [why for why in (_left_out(holder, where) for holder in holders) if why]
        names = ", ".join(dict.fromkeys(makers[holder] for holder in holders))
        if lost:
            return Account(task, "excluded", f"it is the fix of {names}: {lost[0]}", commits)
        into = next((where.commits[holder] for holder in holders if holder in where.commits), "")
        return Account(task, "merged_into", f"the fix of {names} holds it", commits, into)
    into = where.commits.get(change.id, "")
    if not into:
        return Account(task, "excluded", "it is not on the branch", commits)
    return Account(task, "separate" if change.is_implementation else "squashed", "", commits, into)


def _left_out(change: str, where: ChangeFates) -> str:
    if change in where.dropped:
        return where.dropped[change]
    conflict = where.conflicts.get(change)
    if conflict is None or conflict.resolution:
        return ""
    reason = conflict.messages[0] if conflict.messages else "conflict"
    others = f" with {', '.join(conflict.others)}" if conflict.others else ""
    return one_line(f"conflict{others}: {reason}", 500)
