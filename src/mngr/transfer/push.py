"""New commits for an agent: its checked-out branch and files move forward, or nothing does."""

import os
from contextlib import suppress

from mngr.errors import MngrError, RefusedError, UsageError
from mngr.process import Completed
from mngr.sh.codes import Exit
from mngr.transfer.git import git, run_script
from mngr.transfer.pack import push_pack
from mngr.transfer.protocol import Brought, WorkSource
from mngr.transfer.refs import INCOMING, temporary_ref
from mngr.transfer.source import need_git
from mngr.transfer.view import Checkout, enter_script, view_script


def push_commits(source: WorkSource, place: Checkout, *, ref: str = "HEAD") -> Brought:
    """Fast-forwards the agent's branch and files to a commit of the source; refused if work would be lost."""
    need_git(source, "pushing commits")
    found = git(source.top, "rev-parse", "-q", "--verify", "--end-of-options", f"{ref}^{{commit}}")
    if found.code:
        raise UsageError(
            f'no commit "{ref}" in {source.top}', hint="name a branch, a tag or a commit: git branch -a"
        )
    # The last line: some versions of git repeat `--end-of-options` before it.
    commit = found.text.strip().split("\n")[-1]
    incoming = temporary_ref(INCOMING)
    try:
        push_pack(source.common_dir, place, [f"{commit}:{incoming}"])
    except BaseException:
        with suppress(MngrError):
            run_script(place.host, f"{enter_script(place)}its_git update-ref -d {incoming}\n")
        raise
    script = view_script(place, "sh/move_forward", incoming=incoming, commit=commit)
    done = run_script(place.host, script, timeout_s=600)
    if done.code:
        raise _refusal(done, place)
    before, branch, after = (*os.fsdecode(done.stdout).split("\n"), "", "")[:3]
    return Brought(
        branch.removeprefix("refs/heads/"), before, after, ("nothing new",) if before == after else ()
    )


def _refusal(done: Completed, place: Checkout) -> MngrError:
    if done.code == Exit.INDEX_LOCKED:
        return RefusedError(
            "the agent's git is at work: its index is locked",
            hint="try again, or see: mngr exec NAME git status",
        )
    output = done.stderr.decode(errors="replace")
    if "would be overwritten" in output:
        files = ", ".join(line.strip() for line in output.splitlines() if line.startswith("\t"))
        return RefusedError(
            f"the agent has uncommitted work in files that change: {files}",
            hint="let it commit first (mngr message), or fetch it: mngr pull NAME --include-dirty",
        )
    if "fast-forward" in output or "unrelated histories" in output:
        return RefusedError(
            "the agent has commits of its own, so its branch cannot simply move forward",
            hint="fetch them first, then push the result: mngr pull NAME --rebase",
        )
    return MngrError(
        f"cannot move {place.work_dir} on {place.host.name} forward: {done.complaint}",
        hint="look at it: mngr exec NAME git status",
    )
