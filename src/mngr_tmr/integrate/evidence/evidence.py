"""What a reviewer should know of the branch: witnesses, what each fix is needed for, weaker tests."""

from collections.abc import Sequence

from msgspec.structs import replace

from mngr_tmr.agent_text import one_line, shown
from mngr_tmr.git import Repository
from mngr_tmr.integrate.branch.builder import BranchBuilder, BuiltBranch
from mngr_tmr.integrate.branch.plan import BranchPlan
from mngr_tmr.integrate.evidence.needs import FixNeeds
from mngr_tmr.integrate.evidence.public_surface import new_surface
from mngr_tmr.integrate.evidence.weakenings import weakenings
from mngr_tmr.integrate.evidence.witness import judgement, witness
from mngr_tmr.integrate.gates.runner import Runner
from mngr_tmr.integrate.split.diffs import changed_files
from mngr_tmr.model.integration import Fix, FixWitness, WeakenedAssertion
from mngr_tmr.model.measured import MeasuredOutcomes
from mngr_tmr.model.record import TaskRecord


class BranchEvidence:
    """Collects the evidence for one built branch."""

    def __init__(
        self, repo: Repository, builder: BranchBuilder, plan: BranchPlan, built: BuiltBranch
    ) -> None:
        self._repo, self._builder, self._plan, self._built = repo, builder, plan, built

    def fixes(
        self,
        fixes: Sequence[Fix],
        records: Sequence[TaskRecord],
        measured: Sequence[MeasuredOutcomes],
        runner: Runner,
    ) -> tuple[Fix, ...]:
        """The fixes with what was seen of them."""
        surfaces = self._surfaces()
        needs = FixNeeds(self._builder, self._plan, self._built, records, measured)
        found = []
        for fix, placed in zip(fixes, self._built.fixes, strict=True):
            # All that must be reverted before it can be.
            gone = {fix.commit}
            for other in fixes:
                if gone.intersection(other.depends_on):
                    gone.add(other.commit)
            tasks = frozenset(task for one in fixes if one.commit in gone for task in one.tasks)
            seen = witness(placed, self._plan, records, runner)
            found.append(self._fix(fix, seen, surfaces[placed.change.id], needs.of(placed, tasks, runner)))
        return tuple(found)

    def weakenings(self, base: str) -> tuple[WeakenedAssertion, ...]:
        """Where tests of the branch are weaker than those of the base, and the tasks that changed them."""
        pair = (base, self._built.squashed or base)
        files = [file for file in changed_files(self._repo, [pair])[pair] if file.path.endswith(".py")]
        blobs = self._repo.blobs(oid for file in files for oid in (file.old, file.new))
        makers = {
            file.path: tuple(
                dict.fromkeys(
                    task
                    for change in self._built.others
                    if file.path in change.paths
                    for task in change.tasks
                )
            )
            for file in files
        }
        return tuple(
            replace(found, tasks=makers[file.path])
            for file in files
            for found in weakenings(shown(file.path), blobs.get(file.old, b""), blobs.get(file.new, b""))
        )

    def _fix(
        self, fix: Fix, seen: FixWitness | None, surface: tuple[str, ...], needed: tuple[str, ...]
    ) -> Fix:
        need = f"{len(needed)} tests need it" if needed else "no test was seen to need it"
        need = "1 test needs it" if len(needed) == 1 else need
        doubts = (
            judgement(seen) if seen else "",
            "its agent called it a change of another kind" if fix.is_mislabelled else "",
            f"it adds public surface: {', '.join(surface)}" if surface else "",
        )
        return replace(
            fix,
            witness=seen,
            surface=surface,
            needed_by=needed,
            reason=f"{need}; {fix.reason}",
            doubts=tuple(filter(None, doubts)),
        )

    def _surfaces(self) -> dict[str, tuple[str, ...]]:
        """The new public surface of each fix."""
        changes = [placed.change for placed in self._built.fixes]
        blobs = self._repo.blobs(
            oid for change in changes for file in change.files for oid in (file.old, file.new)
        )
        return {
            change.id: tuple(
                one_line(found, 100)
                for file in change.files
                for found in new_surface(file.path, blobs.get(file.old, b""), blobs.get(file.new, b""))
            )
            for change in changes
        }
