"""The folder as it is, uncommitted files and all, git or not."""

import os

from mngr.errors import UsageError
from mngr.hosts.protocol import Host, shares_files
from mngr.sh.program import quote, words
from mngr.transfer import work_dir as work_dirs
from mngr.transfer.fetch import fetch_branch
from mngr.transfer.git import NEEDS_GIT, failed, run_script
from mngr.transfer.protocol import Brought, Sent, WorkSource
from mngr.transfer.source import free_branch
from mngr.transfer.tar import send_tar
from mngr.transfer.view import checkout_of

# Records of the source's other worktrees: in a copy they would let git remove those.
_LEFT_OUT = ("--exclude=./.git/worktrees", "--exclude=./.git/mngr.lock", "--exclude=./.git/*.lock")


class CopyTransfer:
    """Works for any folder; a repository's root brings its history along."""

    name = "copy"

    def send(self, source: WorkSource, host: Host, work_dir: str, branch: str) -> Sent:
        # Whether the folder holds its whole repository; one that only points at it cannot be copied.
        dot_git = os.path.join(source.path, ".git")
        if os.path.isfile(dot_git):
            raise UsageError(
                f"{source.path} is a linked worktree or a submodule: a copy would still point at its repository",
                hint="use --transfer mirror",
            )
        has_history = os.path.isdir(dot_git) and bool(source.common_dir)
        inside = os.path.realpath(work_dir) + "/"
        if shares_files(host) and inside.startswith(os.path.realpath(source.path).rstrip("/") + "/"):
            raise UsageError(
                f"{work_dir} lies inside {source.path}, which would be copied into itself",
                hint="name a smaller folder, use --transfer worktree, or set MNGR_HOST_DIR to a place outside it",
            )
        with_branch = bool(has_history and source.head)
        name, notes = free_branch(source, branch) if with_branch else ("", ())
        try:
            done = run_script(
                host, (NEEDS_GIT if with_branch else "") + work_dirs.claim_script(host, work_dir)
            )
            work_dirs.check_claimed(done, host, work_dir)
            notes += send_tar(host, work_dir, (*_LEFT_OUT, "-C", source.path, "."))
            if with_branch:
                make_branch = f"git checkout -q --no-track -b {words(name, source.head)}\n"
                done = run_script(host, f"cd -- {quote(work_dir)}\n{make_branch}", timeout_s=600)
                if done.code:
                    doing = f"cannot make branch {name} in {work_dir} on {host.name}"
                    hint = "nothing was left behind; mirror starts from a clean checkout: --transfer mirror"
                    raise failed(doing, done, hint)
        except BaseException:
            work_dirs.remove_claimed(host, work_dir)
            raise
        base = source.head if has_history else ""
        return Sent(work_dir=work_dir, branch=name, base_commit=base, owns_work_dir=True, notes=notes)

    def bring_back(self, host: Host, work_dir: str, into: WorkSource, branch: str) -> Brought:
        return fetch_branch(checkout_of(host, work_dir, self.name, into), into, branch)
