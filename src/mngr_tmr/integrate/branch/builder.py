"""A plan made into commits: one with all that is not implementation, then one for each fix, on one line."""

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.git import Merge, Repository
from mngr_tmr.integrate.branch.conflict import Conflict, Resolve, describe_conflict
from mngr_tmr.integrate.branch.insertions import keep_both
from mngr_tmr.integrate.branch.plan import BranchPlan
from mngr_tmr.integrate.branch.syntax_check import keeps_syntax
from mngr_tmr.integrate.cherry_pick import CommitDiff, cherry_pick, revert
from mngr_tmr.integrate.split.change import TaskChange
from mngr_tmr.integrate.split.diffs import changed_files


class PlacedFix(Struct, frozen=True):
    """A fix on the branch."""

    change: TaskChange
    commit: str
    parent: str


class BuiltBranch(Struct, frozen=True):
    """A branch with provisional messages; `held` maps changes that were there already to those that contain them."""

    tip: str
    squashed: str = ""
    others: tuple[TaskChange, ...] = ()
    fixes: tuple[PlacedFix, ...] = ()
    held: dict[str, tuple[str, ...]] = {}
    conflicts: tuple[Conflict, ...] = ()

    @property
    def changes(self) -> tuple[TaskChange, ...]:
        return (*self.others, *(placed.change for placed in self.fixes))

    @property
    def set_aside(self) -> tuple[Conflict, ...]:
        return tuple(conflict for conflict in self.conflicts if not conflict.resolution)


class BranchBuilder:
    """Builds plans on one base. What was merged once is remembered, so that building variants is cheap."""

    def __init__(self, repo: Repository, base: str, resolve: Resolve | None = None) -> None:
        self._repo, self._base, self._resolve = repo, base, resolve
        self._merged: dict[tuple[str, str], Merge] = {}
        self._resolved: dict[tuple[str, str], Conflict] = {}

    def build(self, plan: BranchPlan, *, may_resolve: bool = False) -> BuiltBranch:
        """The branch of a plan; with `may_resolve`, new conflicts are given to `resolve`."""
        line = _Line(self._base, tree=self._repo.tree(self._base))
        for change in plan.others:
            line = self._put(line, change, may_resolve)
        squashed = ""
        if line.placed:
            squashed = self._repo.commit(f"{line.tip}^{{tree}}", [self._base], "others")
        there = {*line.held, *(placed.change.id for placed in line.placed)}
        others = tuple(change for change in plan.others if change.id in there)
        line = replace(line, tip=squashed or self._base, placed=())
        for change in plan.fixes:
            line = self._put(line, change, may_resolve)
        return BuiltBranch(line.tip, squashed, others, line.placed, line.held, line.conflicts)

    def without(self, plan: BranchPlan, built: BuiltBranch, placed: PlacedFix) -> str:
        """A commit with the branch as it would be without one fix, and without those that depend on it."""
        merged = revert(self._repo, built.tip, placed.commit, placed.parent)
        if merged.is_clean:
            return self._repo.commit(merged.tree, [built.tip], f"without {placed.change.id}")
        return self.build(plan.without([placed.change.id])).tip

    def _put(self, line: "_Line", change: TaskChange, may_resolve: bool) -> "_Line":
        lost = {conflict.change for conflict in line.conflicts if not conflict.resolution}
        if lost.intersection(change.needs):
            return line.with_conflict(
                Conflict(
                    change=change.id,
                    tasks=change.tasks,
                    others=(),
                    files=change.paths,
                    messages=("it depends on a change that was not merged",),
                    hunks=(),
                    ours=line.tip,
                    before=change.before,
                    theirs=change.after,
                    title=change.title,
                )
            )
        merged = self._merge(line.tip, change)
        tree = merged.tree if merged.is_clean and self._is_sound(line, change, merged) else None
        if tree is None and not merged.is_clean and not change.is_implementation:
            tree = keep_both(self._repo, merged)
        if tree is None:
            conflict = self._settle(line, change, merged, may_resolve)
            line, tree = line.with_conflict(conflict), conflict.resolution
        return line.with_change(change, self._repo, tree) if tree else line

    def _merge(self, tip: str, change: TaskChange) -> Merge:
        key = (tip, change.after)
        if key not in self._merged:
            self._merged[key] = cherry_pick(
                self._repo, tip, CommitDiff(change.before, change.after), self._base
            )
        return self._merged[key]

    def _is_sound(self, line: "_Line", change: TaskChange, merged: Merge) -> bool:
        """Whether files that others changed too can still be read as before."""
        shared = [path for path in change.paths if path in line.touched]
        if not shared:
            return True
        theirs, now = (self._repo.entries(tree, *shared) for tree in (change.after, merged.tree))
        blobs = self._repo.blobs(entry.id for side in (theirs, now) for entry in side.values())
        return all(
            path not in theirs
            or keeps_syntax(path, blobs.get(theirs[path].id, b""), blobs.get(now[path].id, b""))
            for path in now
        )

    def _settle(self, line: "_Line", change: TaskChange, merged: Merge, may_resolve: bool) -> Conflict:
        """The conflict, with a tree that resolves it when there is one that touches nothing else."""
        key = (line.tip, change.after)
        if key in self._resolved:
            return self._resolved[key]
        found = describe_conflict(self._repo, line.tip, change, merged, line.touched)
        if not merged.messages:
            found = replace(found, messages=("merged line by line, a file can no longer be read",))
        if not may_resolve or self._resolve is None:
            return found
        tree = self._resolve(found)
        problem = self._objection(line.tip, change, merged, tree) if tree else "no agent could resolve it"
        messages = (*found.messages, *([problem] if problem else []))
        self._resolved[key] = replace(
            found,
            messages=messages,
            resolution="" if problem or not tree else tree,
            resolved_by="agent" if tree else "",
        )
        return self._resolved[key]

    def _objection(self, tip: str, change: TaskChange, merged: Merge, tree: str) -> str:
        """What is wrong with a resolution; empty when it may be used."""
        allowed = {*change.paths, *(path for path, _, _ in merged.stages)}
        proposal = self._repo.commit(tree, [tip], "a resolution")
        files = changed_files(self._repo, [(tip, proposal)])[tip, proposal]
        strange = [file.path for file in files if file.path not in allowed]
        if strange:
            return f"its resolution also changes {strange[0]!r}"
        added = (line for file in files for hunk in file.hunks or () for line in hunk.added)
        if any(line.startswith((b"<<<<<<< ", b">>>>>>> ")) for line in added):
            return "its resolution still holds conflict markers"
        return ""


class _Line(Struct, frozen=True):
    """The branch so far."""

    tip: str
    placed: tuple[PlacedFix, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    held: dict[str, tuple[str, ...]] = {}
    touched: dict[str, tuple[str, ...]] = {}
    tree: str = ""

    def with_conflict(self, conflict: Conflict) -> "_Line":
        return replace(self, conflicts=(*self.conflicts, conflict))

    def with_change(self, change: TaskChange, repo: Repository, tree: str) -> "_Line":
        """The branch with one more change; one that has no effect is held by those that touched its files."""
        if tree == self.tree:
            owners = [
                placed.change.id
                for placed in self.placed
                if set(placed.change.paths).intersection(change.paths)
            ]
            return replace(self, held={**self.held, change.id: tuple(owners)})
        commit = repo.commit(tree, [self.tip], change.id)
        touched = {path: (*self.touched.get(path, ()), *change.tasks) for path in change.paths}
        return replace(
            self,
            tip=commit,
            tree=tree,
            placed=(*self.placed, PlacedFix(change, commit, self.tip)),
            touched={**self.touched, **touched},
        )
