"""New commits for an agent: its checked-out branch and files move forward, or nothing does."""

import os
from contextlib import suppress

from mngr.errors import MngrError, RefusedError, UsageError
from mngr.hosts.protocol import Host
from mngr.process import Completed
from mngr.store.script import quote
from mngr.transfer.git import NEEDS_GIT, git, run_script
from mngr.transfer.pack import push_pack
from mngr.transfer.protocol import Brought, Source
from mngr.transfer.source import need_git


def push_commits(source: Source, host: Host, work_dir: str, *, ref: str = "HEAD") -> Brought:
    """Fast-forwards the agent's branch and files to a commit of the source; refused if work would be lost."""
    need_git(source, "pushing commits")
    commit = _commit(source, ref)
    incoming = f"refs/mngr/incoming/{os.urandom(8).hex()}"
    try:
        push_pack(source.common_dir, host, work_dir, [f"{commit}:{incoming}"])
    except BaseException:
        with suppress(MngrError):
            run_script(host, f"cd -- {quote(work_dir)}\ngit update-ref -d {incoming}\n")
        raise
    done = run_script(host, _forward_script(work_dir, incoming), timeout_s=600)
    if done.code:
        raise _refusal(done, host, work_dir)
    before, branch, after = os.fsdecode(done.stdout).split("\n")[:3]
    return Brought(
        branch.removeprefix("refs/heads/"), before, after, ("nothing new",) if before == after else ()
    )


def _commit(source: Source, ref: str) -> str:
    done = git(source.top, "rev-parse", "-q", "--verify", "--end-of-options", f"{ref}^{{commit}}")
    if done.code:
        raise UsageError(
            f'no commit "{ref}" in {source.top}', hint="name a branch, a tag or a commit: git branch -a"
        )
    return done.text.strip().split("\n")[-1]


def _forward_script(work_dir: str, incoming: str) -> str:
    return f"""{NEEDS_GIT}cd -- {quote(work_dir)}
[ -e .git ]
trap 'git update-ref -d {incoming}' EXIT
git rev-parse -q --verify 'HEAD^{{commit}}' || echo
git symbolic-ref -q HEAD || echo
git -c merge.autoStash=false merge -q --ff-only --no-stat --no-verify-signatures {incoming} >&2
git rev-parse HEAD
"""


def _refusal(done: Completed, host: Host, work_dir: str) -> MngrError:
    said = done.stderr.decode(errors="replace")
    if "would be overwritten" in said:
        files = ", ".join(line.strip() for line in said.splitlines() if line.startswith("\t"))
        return RefusedError(
            f"the agent has uncommitted work in files that change: {files}",
            hint="let it commit first (mngr message), or bring it home: mngr pull NAME --include-dirty",
        )
    if "fast-forward" in said or "unrelated histories" in said:
        return RefusedError(
            "the agent has commits of its own, so its branch cannot simply move forward",
            hint="bring them home first, then push the result: mngr pull NAME --rebase",
        )
    return MngrError(
        f"cannot move {work_dir} on {host.name} forward: {done.complaint}",
        hint="look at it: mngr exec NAME git status",
    )
