"""The commits as they will be read: ranks, reasons, credits and dependencies in their messages."""

from msgspec import Struct

from mngr_tmr.agent_text import one_line, shown, subject
from mngr_tmr.git import Repository
from mngr_tmr.integrate.branch.builder import BuiltBranch
from mngr_tmr.integrate.branch.commit_messages import fix_message, squashed_message
from mngr_tmr.integrate.branch.dependencies import dependencies
from mngr_tmr.integrate.branch.plan import BranchPlan, rank_reason
from mngr_tmr.model.integration import Fix


class FinalCommits(Struct, frozen=True):
    """The branch; `commits` maps every change on it to its commit."""

    tip: str
    squashed: str
    fixes: tuple[Fix, ...]
    commits: dict[str, str]


def write_final_commits(repo: Repository, base: str, plan: BranchPlan, built: BuiltBranch) -> FinalCommits:
    """Writes the commits once more with their messages; the trees are those that were built."""
    needs = dependencies(repo, plan, built)
    squashed = ""
    if built.squashed:
        squashed = repo.commit(f"{built.squashed}^{{tree}}", [base], squashed_message(built.others))
    commits = {change.id: squashed for change in built.others}
    tip, fixes = squashed or base, []
    for rank, placed in enumerate(built.fixes, 1):
        change, reason = placed.change, rank_reason(placed.change)
        depends_on = tuple(commits[need] for need in needs[change.id])
        message = fix_message(change, rank, reason, depends_on)
        tip = commits[change.id] = repo.commit(f"{placed.commit}^{{tree}}", [tip], message)
        fixes.append(
            Fix(
                commit=tip,
                rank=rank,
                title=subject(change.title, f"a fix for {change.tasks[0]}"),
                reason=f"{reason}; its agent says: {one_line(change.reason)}"
                if change.reason.strip()
                else reason,
                importance=change.importance,
                tasks=change.tasks,
                paths=tuple(map(shown, change.paths)),
                depends_on=depends_on,
                is_mislabelled=any(source.is_mislabelled for source in change.sources),
            )
        )
    for change_id, owners in built.held.items():
        commits[change_id] = next((commits[owner] for owner in owners if owner in commits), squashed)
    return FinalCommits(tip, squashed, tuple(fixes), commits)
