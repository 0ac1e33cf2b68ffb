"""Uncommitted work as a commit: taken without touching index, HEAD or stash, replayed at the other end."""

from mngr.errors import MngrError
from mngr.sh.program import program, quote
from mngr.transfer.git import run_script_here
from mngr.transfer.protocol import WorkSource

SNAPSHOT_MESSAGE = "mngr: uncommitted work"
_MAKER = "mngr <mngr@localhost>"


def snapshot_commit_script(work_dir: str) -> str:
    """Shell lines that print the id of a commit holding the work tree as it is: HEAD's own when it is clean."""
    return program("sh/lib/commit_work", work_dir=work_dir, message=SNAPSHOT_MESSAGE) + "mngr_commit_work\n"


def replay_script(commit: str) -> str:
    """Shell lines that make the files of a fresh checkout those of the snapshot and leave HEAD alone."""
    return f"git read-tree --reset -u {quote(commit)}\ngit reset -q --mixed\n"


def snapshot_commit(source: WorkSource) -> str:
    """The commit for the source's uncommitted work; empty when there is none or it was not asked for."""
    if source.dirty:
        return source.dirty if source.dirty != source.head else ""
    if not source.include_dirty or not source.common_dir:
        return ""
    done = run_script_here(snapshot_commit_script(source.top), timeout_s=600)
    if done.code:
        raise MngrError(
            f"cannot take the uncommitted work of {source.top}: {done.complaint}",
            hint="commit, ignore or remove what git names here, or leave out --include-dirty",
        )
    commit = done.text.strip()
    return "" if commit == source.head else commit


def is_snapshot(raw_commit: str) -> bool:
    """Whether the text of a commit object is one of our snapshots."""
    return f"\ncommitter {_MAKER} " in raw_commit and raw_commit.rstrip().endswith(f"\n\n{SNAPSHOT_MESSAGE}")
