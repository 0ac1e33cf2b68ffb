"""The integrated branch as the page shows it: every commit with its reason, its witness and what to watch out for."""

from collections.abc import Iterable

from msgspec.structs import astuple

import mngr
from mngr_lib.safe_text import plain
from mngr_tmr.git import Repository
from mngr_tmr.model.integration import Fix, Integration
from mngr_tmr.model.run import RunSpec
from mngr_tmr.report.out.page.recipes import revert_command
from mngr_view.records import BranchCommit, Patch, Recipe, WeakenedCheck, WitnessResults

_PATCH = 200_000
_WEAKENINGS = 500


def branch_commits(spec: RunSpec, integration: Integration) -> tuple[BranchCommit, ...]:
    """All commits from the base on, as they stand on the branch."""
    tests = {task.slug: task.node_id for task in spec.tasks}
    fixes = tuple(_fix(spec, integration, fix, tests) for fix in integration.fixes)
    if not integration.squashed:
        return fixes
    in_fixes = {path for fix in integration.fixes for path in fix.paths}
    rest = tuple(one.file for one in integration.weakenings if one.file not in in_fixes)
    squashed = BranchCommit(
        integration.squashed,
        "tests and docs",
        commit_key(integration.squashed),
        tests=tuple(tests.get(task, task) for task in integration.squashed_tasks),
        weakenings=tuple(_weakenings(integration, rest)),
        recipes=(Recipe("revert it", revert_command(spec, integration.squashed)),),
    )
    return (squashed, *fixes)


def commit_key(commit: str) -> str:
    return f"commit/{commit.lower()}"


def read_patch(repo: str, commit: str) -> Patch:
    """The diff of a commit; a long one is truncated, and one that cannot be read says why."""
    words = (
        "diff-tree",
        "-p",
        "-M",
        "--root",
        "--no-commit-id",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
    )
    try:
        diff = Repository(repo, 0).ask(*words, commit, "--").decode(errors="replace")
    except mngr.MngrError as error:
        return Patch("", f"it cannot be read: {plain(str(error))}")
    note = f"the first {_PATCH:,} of {len(diff):,} characters" if len(diff) > _PATCH else ""
    return Patch(diff[:_PATCH], note)


def _fix(spec: RunSpec, integration: Integration, fix: Fix, tests: dict[str, str]) -> BranchCommit:
    dependents = [one.commit for one in reversed(integration.fixes) if fix.commit in one.depends_on]
    # What a reviewer must not miss; `doubts` name labels and surface too, where a witness was called.
    flags = list(fix.doubts or (f"new public surface: {one}" for one in fix.surface))
    flags += [f"depends on {commit[:12]}" for commit in fix.depends_on]
    for one in integration.conflicts:
        if one.get("resolution") and fix.tasks[:1] == tuple(one.get("tasks", ()))[:1]:
            files = ", ".join(map(str, one.get("files", ())))
            flags.append(f"a conflict in {files} was resolved by {one.get('resolved_by') or 'an agent'}")
    return BranchCommit(
        fix.commit,
        fix.title,
        commit_key(fix.commit),
        fix.rank,
        fix.reason,
        tuple(tests.get(task, task) for task in fix.tasks),
        fix.paths,
        tuple(flags),
        WitnessResults(*astuple(fix.witness)) if fix.witness else None,
        tuple(_weakenings(integration, fix.paths)),
        tuple(tests.get(task, task) for task in fix.needed_by),
        (Recipe("revert it", revert_command(spec, *dependents, fix.commit)),),
    )


def _weakenings(integration: Integration, paths: tuple[str, ...]) -> Iterable[WeakenedCheck]:
    for one in integration.weakenings[:_WEAKENINGS]:
        if one.file in paths:
            yield WeakenedCheck(one.kind, one.file, one.test, one.before, one.after)
