"""Where every task's work went; no commit is left without a word."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from mngr_tmr.agent_text import one_line
from mngr_tmr.integrate.branch.conflict import Conflict
from mngr_tmr.integrate.split.change import Unit
from mngr_tmr.model.integration import Account


class Whereabouts(Struct, frozen=True):
    """What became of the pieces: by id the commit, those that hold it, the conflict, the reason it was dropped."""

    commits: Mapping[str, str] = {}
    holders: Mapping[str, tuple[str, ...]] = {}
    conflicts: Mapping[str, Conflict] = {}
    dropped: Mapping[str, str] = {}


def account_for(units: Sequence[Unit], where: Whereabouts) -> tuple[Account, ...]:
    """An account for each piece as it was cut, before equal ones were joined."""
    makers = {unit.id: unit.tasks[0] for unit in units}
    return tuple(_account(unit, where, makers) for unit in units)


def _account(unit: Unit, where: Whereabouts, makers: Mapping[str, str]) -> Account:
    task, commits = unit.sources[0].task, unit.sources[0].commits
    why = _left_out(unit.id, where)
    if why:
        return Account(task, "excluded", why, commits)
    holders = where.holders.get(unit.id, ())
    if unit.is_implementation and holders:
        lost = [why for why in (_left_out(holder, where) for holder in holders) if why]
        names = ", ".join(dict.fromkeys(makers[holder] for holder in holders))
        if lost:
            return Account(task, "excluded", f"it is the fix of {names}: {lost[0]}", commits)
        into = next((where.commits[holder] for holder in holders if holder in where.commits), "")
        return Account(task, "merged_into", f"the fix of {names} holds it", commits, into)
    into = where.commits.get(unit.id, "")
    if not into:
        return Account(task, "excluded", "it is not on the branch", commits)
    return Account(task, "separate" if unit.is_implementation else "squashed", "", commits, into)


def _left_out(unit: str, where: Whereabouts) -> str:
    if unit in where.dropped:
        return where.dropped[unit]
    conflict = where.conflicts.get(unit)
    if conflict is None or conflict.resolution:
        return ""
    said = conflict.messages[0] if conflict.messages else "conflict"
    others = f" with {', '.join(conflict.others)}" if conflict.others else ""
    return one_line(f"set aside, conflict{others}: {said}", 500)
