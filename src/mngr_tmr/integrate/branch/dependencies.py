"""Which fixes stand in the way when an earlier one is reverted."""

from collections.abc import Sequence

from mngr_tmr.git import Repository
from mngr_tmr.integrate.branch.builder import Built, Placed
from mngr_tmr.integrate.branch.plan import Plan
from mngr_tmr.integrate.cherry_pick import Difference, pick, undo


def dependencies(repo: Repository, plan: Plan, built: Built) -> dict[str, tuple[str, ...]]:
    """For each fix the earlier ones that can be reverted only after it; those of no file in common are never tried."""
    found: dict[str, dict[str, None]] = {placed.unit.id: {} for placed in built.fixes}
    for placed in built.fixes:
        for need in (*placed.unit.needs, *plan.overlaps.get(placed.unit.id, ())):
            if need in found:
                found[placed.unit.id][need] = None
    for number, placed in enumerate(built.fixes):
        later = _sharing(placed, built.fixes[number + 1 :])
        if later and not undo(repo, built.tip, placed.commit, placed.parent).is_clean:
            for blocker in _blockers(repo, placed, later):
                found[blocker.unit.id][placed.unit.id] = None
    return {unit: tuple(needs) for unit, needs in found.items()}


def _sharing(placed: Placed, later: Sequence[Placed]) -> list[Placed]:
    paths = set(placed.unit.paths)
    return [other for other in later if not paths.isdisjoint(other.unit.paths)]


def _blockers(repo: Repository, placed: Placed, later: Sequence[Placed]) -> list[Placed]:
    """Adds later fixes one by one, leaving out each that makes the revert impossible."""
    blockers = []
    at = placed.commit
    for other in later:
        merged = pick(repo, at, Difference(other.parent, other.commit), root="")
        if not merged.is_clean:
            continue
        with_it = repo.commit(merged.tree, [at], "with one fix more")
        if undo(repo, with_it, placed.commit, placed.parent).is_clean:
            at = with_it
        else:
            blockers.append(other)
    return blockers
