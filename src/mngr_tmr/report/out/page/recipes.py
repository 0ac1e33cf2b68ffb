"""Commands to copy: run a test again at a commit, revert a fix, look at an agent at work."""

import shlex
from collections.abc import Iterable

from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import integrated_branch
from mngr_tmr.report.data.rows import ReportRow
from mngr_tmr.report.out.progress import answer_command
from mngr_view.records import Recipe

_SHORT = 12


def row_recipes(spec: RunSpec, run: str, row: ReportRow) -> Iterable[Recipe]:
    """Commands for a row; `run` is the word that names the run."""
    record = row.record
    if record is None:
        yield Recipe("run it on the branch", copy_command(spec, integrated_branch(spec.id), row.task.node_id))
        return
    if record.end == "running" and record.agent:
        if record.asks:
            yield Recipe("answer it", answer_command(record.agent, record.asks))
        yield Recipe("attach to its agent", f"mngr connect {shlex.quote(record.agent)}")
    if record.commit:
        yield Recipe("check it again in a fresh copy", f"mngr tmr verify {run} {shlex.quote(row.task.slug)}")
        yield Recipe("run it at its commit, by hand", copy_command(spec, record.commit, row.task.node_id))
    if record.commits:
        range_ = f"{spec.base[:_SHORT]}..{record.commit[:_SHORT]}"
        yield Recipe(
            "see what its agent changed", f"git -C {shlex.quote(spec.repo)} log --reverse -p {range_}"
        )
    yield Recipe("run it at the base, by hand", copy_command(spec, spec.base, row.task.node_id))
    for one in row.merged:
        if one.rank:
            yield Recipe(f"revert fix {one.rank}", revert_command(spec, one.commit))


def revert_command(spec: RunSpec, *commits: str) -> str:
    """Reverts commits of the integrated branch in this order."""
    ids = " ".join(shlex.quote(commit[:_SHORT]) for commit in commits)
    return f"git switch {shlex.quote(integrated_branch(spec.id))} && git revert --no-edit {ids}"


def copy_command(spec: RunSpec, commit: str, node_id: str) -> str:
    """One line that makes a copy of a commit beside the repository and runs a test there, as the run does."""
    short = commit[:_SHORT] if "/" not in commit else commit.replace("/", "-")
    copy = f"{spec.repo.rstrip('/')}-{short}"
    words = [*spec.pytest, node_id]
    steps = [
        f"git -C {shlex.quote(spec.repo)} worktree add --detach {shlex.quote(copy)} {shlex.quote(commit)}",
        f"cd {shlex.quote(f'{copy}/{spec.folder}' if spec.folder else copy)}",
        *([spec.options.setup] if spec.options.setup else []),
        shlex.join(words),
    ]
    return " && ".join(steps)
