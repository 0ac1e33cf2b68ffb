"""A work dir whose agent is gone: removed, after what only it holds was put where it is found again."""

import os

from mngr.actions.snapshots.checkpoint import keep_commit_script
from mngr.errors import MngrError, UsageError
from mngr.hosts.protocol import Host, shares_files
from mngr.process import wait_until
from mngr.sh.codes import Exit
from mngr.sh.program import READ_AND_RUN, encode, program
from mngr.transfer.discard import discard
from mngr.transfer.fetch import look
from mngr.transfer.git import failed, run_script
from mngr.transfer.protocol import Sent
from mngr.transfer.safe_paths import show
from mngr.transfer.source import find_source
from mngr.transfer.view import Checkout
from mngr.transfer.work_dir import remove_work_dir
from mngr.transfer.worktree_pull import keep_snapshot

_OURS = "mngr/"
_PATIENCE_S = 10
_TIMEOUT_S = 3600.0


def remove_unused(host: Host, path: str) -> tuple[str, ...]:
    """Removes the directory; a worktree's commits and uncommitted work become branches, others' go to the store."""
    when_unused(host, path)
    if shares_files(host) and os.path.isfile(os.path.join(path, ".git")):
        try:
            source = find_source(path, isolated=True)
        except UsageError:
            pass  # no repository has it as a worktree
        else:
            branch, notes = source.head_branch, tuple[str, ...]()
            # Which repository it is only its own files say: the settings there may be the agent's, and are not used.
            report = look(Checkout(host, path, source.common_dir), snapshot=True)
            if report.snapshot:
                notes = keep_snapshot(source, branch or "mngr/detached", report).notes
            is_ours = branch.startswith(_OURS)
            sent = Sent(path, branch if is_ours else "", "", owns_work_dir=True, owns_branch=is_ours)
            return (*notes, *discard(host, sent, source, "worktree"))
    return keep_commits(host, path) + remove_work_dir(host, path)


def when_unused(host: Host, path: str) -> None:
    """Waits until no process of the host works on a directory: what a killed mngr had started still runs on."""
    if not wait_until(lambda: not _users(host, path), _PATIENCE_S):
        raise MngrError(
            f"{path} is in use by processes {_users(host, path)}", hint="end them, then try again"
        )


def _users(host: Host, path: str) -> str:
    # The path comes in on stdin and is no argument, or the search would find itself.
    script = program("sh/users", folder=path)
    return " ".join(host.run(READ_AND_RUN, stdin=encode(script)).text.split())


def keep_commits(host: Host, path: str) -> tuple[str, ...]:
    """Puts the commits and uncommitted work of a repository into the host's store, and says where."""
    name = os.path.basename(path)
    done = run_script(
        host, keep_commit_script(Checkout(host, path), f"refs/mngr/lost/{name}"), timeout_s=_TIMEOUT_S
    )
    if done.code in (Exit.UNREADABLE, Exit.OTHER_REPOSITORY):
        return (f"{path} held a repository that git cannot read: {show(done.complaint)}",)
    if done.code:
        hint = f"look at it on {host.name}, and remove it if nothing there is worth keeping"
        raise failed(f"cannot keep the commits of {path}", done, hint)
    kept = done.text.strip()
    return (f"the commits of {path} are kept in {kept} as refs/mngr/lost/{name}",) if kept else ()
