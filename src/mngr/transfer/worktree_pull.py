"""What is fetched from a worktree: its commits are in the source already, so only uncommitted work does."""

from mngr.errors import RefusedError
from mngr.hosts.protocol import Host
from mngr.transfer.dirty import is_snapshot
from mngr.transfer.fetch import WorkDirReport, look, move_branch, stand
from mngr.transfer.git import git
from mngr.transfer.protocol import Brought, WorkSource
from mngr.transfer.view import checkout_of


def pull_worktree(host: Host, work_dir: str, into: WorkSource, branch: str) -> Brought:
    """Says where the branch stands; uncommitted work, if asked for, becomes a branch beside it."""
    standing = stand(into, branch)
    report = look(checkout_of(host, work_dir, "worktree", into), snapshot=into.include_dirty)
    if report.snapshot:
        return keep_snapshot(into, branch, report)
    notes = ["a worktree's commits are in the source repository already"]
    if report.branch != branch:
        where = f'branch "{report.branch}"' if report.branch else f"no branch (at {report.head[:12]})"
        notes.append(f"the agent is on {where}")
    notes += report.left_there()
    if not standing.commit:
        notes.append("the agent has no commits yet")
    return Brought(branch, standing.commit, standing.commit, tuple(notes))


def keep_snapshot(into: WorkSource, branch: str, report: WorkDirReport) -> Brought:
    """The agent's own branch is checked out in its worktree, so the snapshot gets a branch of its own."""
    beside = f"{branch}-uncommitted"
    before = stand(into, beside)
    held = git(into.common_dir, "cat-file", "commit", before.commit).text if before.commit else ""
    if before.checked_out_at or (held and not is_snapshot(held)):
        raise RefusedError(
            f'branch "{beside}" is there and not a snapshot of ours, or is checked out',
            hint=f"rename it first: git branch -m {beside} {beside}-mine",
        )
    move_branch(into, beside, report.snapshot, before.commit)
    return Brought(
        beside, before.commit, report.snapshot, (f'uncommitted work is one commit on top, as "{beside}"',)
    )
