"""The commits as they will be read: ranks, reasons, credits and dependencies in their messages."""

from msgspec import Struct

from mngr_tmr.agent_text import one_line, shown, subject
from mngr_tmr.git import Repository
from mngr_tmr.integrate.branch.builder import Built
from mngr_tmr.integrate.branch.commit_messages import fix_message, squashed_message
from mngr_tmr.integrate.branch.dependencies import dependencies
from mngr_tmr.integrate.branch.plan import Plan, why_ranked
from mngr_tmr.model.integration import Fix


class Finished(Struct, frozen=True):
    """The branch; `commits` maps every piece on it to its commit."""

    tip: str
    squashed: str
    fixes: tuple[Fix, ...]
    commits: dict[str, str]


def finish(repo: Repository, base: str, plan: Plan, built: Built) -> Finished:
    """Writes the commits once more with their messages; the trees are those that were built."""
    needs = dependencies(repo, plan, built)
    squashed = ""
    if built.squashed:
        squashed = repo.commit(f"{built.squashed}^{{tree}}", [base], squashed_message(built.others))
    commits = {unit.id: squashed for unit in built.others}
    tip, fixes = squashed or base, []
    for rank, placed in enumerate(built.fixes, 1):
        unit, reason = placed.unit, why_ranked(placed.unit)
        depends_on = tuple(commits[need] for need in needs[unit.id])
        message = fix_message(unit, rank, reason, depends_on)
        tip = commits[unit.id] = repo.commit(f"{placed.commit}^{{tree}}", [tip], message)
        fixes.append(
            Fix(
                commit=tip,
                rank=rank,
                title=subject(unit.title, f"a fix for {unit.tasks[0]}"),
                reason=f"{reason}; its agent says: {one_line(unit.reason)}"
                if unit.reason.strip()
                else reason,
                importance=unit.importance,
                tasks=unit.tasks,
                paths=tuple(map(shown, unit.paths)),
                depends_on=depends_on,
                is_mislabelled=any(source.is_mislabelled for source in unit.sources),
            )
        )
    for unit_id, owners in built.held.items():
        commits[unit_id] = next((commits[owner] for owner in owners if owner in commits), squashed)
    return Finished(tip, squashed, tuple(fixes), commits)
