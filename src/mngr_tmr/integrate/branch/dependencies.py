"""Which fixes prevent the revert of an earlier one."""

from mngr_tmr.git import Repository
from mngr_tmr.integrate.branch.builder import BuiltBranch
from mngr_tmr.integrate.branch.plan import BranchPlan
from mngr_tmr.integrate.cherry_pick import CommitDiff, cherry_pick, revert


def dependencies(repo: Repository, plan: BranchPlan, built: BuiltBranch) -> dict[str, tuple[str, ...]]:
    """For each fix the earlier ones that can be reverted only after it; those of no file in common are never tried."""
    found: dict[str, dict[str, None]] = {placed.change.id: {} for placed in built.fixes}
    for placed in built.fixes:
        for need in (*placed.change.needs, *plan.overlaps.get(placed.change.id, ())):
            if need in found:
                found[placed.change.id][need] = None
    for number, placed in enumerate(built.fixes):
        paths = set(placed.change.paths)
        following = [fix for fix in built.fixes[number + 1 :] if not paths.isdisjoint(fix.change.paths)]
        if following and not revert(repo, built.tip, placed.commit, placed.parent).is_clean:
            blockers = []
            at = placed.commit
            for other in following:
                merged = cherry_pick(repo, at, CommitDiff(other.parent, other.commit), root="")
                if not merged.is_clean:
                    continue
                with_it = repo.commit(merged.tree, [at], "with one fix more")
                if revert(repo, with_it, placed.commit, placed.parent).is_clean:
                    at = with_it
                else:
                    blockers.append(other)
            for blocker in blockers:
                found[blocker.change.id][placed.change.id] = None
    return {change: tuple(needs) for change, needs in found.items()}
