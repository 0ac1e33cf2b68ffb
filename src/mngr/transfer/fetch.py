"""Brings an agent's commits home: objects only, checked, into a branch that nobody has checked out."""

import os

from msgspec import Struct

from mngr.errors import MngrError, RefusedError
from mngr.hosts.protocol import Host
from mngr.process import Completed
from mngr.store.script import quote
from mngr.transfer.dirty import is_snapshot, snapshot_commit_script
from mngr.transfer.filters import WITHOUT_FILTERS
from mngr.transfer.git import NEEDS_GIT, git, run_script
from mngr.transfer.pack import fetch_pack
from mngr.transfer.protocol import Brought, Source
from mngr.transfer.source import check_branch, summarise_status

_NO_WORK_DIR = 72
_NO_REPOSITORY = 75


class NoRepositoryError(MngrError):
    """The work dir is gone, or what git needs in it."""


class Report(Struct, frozen=True):
    """What a work dir on a host says about itself."""

    head: str
    branch: str
    snapshot: str
    uncommitted: str


class Standing(Struct, frozen=True):
    """Where a branch of the source repository stands, and the work tree that has it checked out."""

    commit: str
    checked_out_at: str


def fetch_branch(
    host: Host, work_dir: str, into: Source, branch: str, *, keeps_filters: bool = False
) -> Brought:
    """Fetches HEAD of the work dir into a branch; refuses what is checked out or would lose commits."""
    _need_repository(into)
    check_branch(branch)
    report = look(host, work_dir, snapshot=into.include_dirty, keeps_filters=keeps_filters)
    standing = stand(into, branch)
    wanted, notes = report.snapshot or report.head, _notes(report, branch)
    if not wanted:
        return Brought(branch, standing.commit, standing.commit, (*notes, "the agent has no commits yet"))
    if wanted == standing.commit:
        return Brought(branch, wanted, wanted, (*notes, "nothing new"))
    _refuse_checked_out(standing, branch)
    incoming = f"refs/mngr/incoming/{os.urandom(8).hex()}"
    try:
        fetch_pack(into.common_dir, host, work_dir, [f"{wanted}:{incoming}"])
        arrived = git(into.common_dir, "rev-parse", "-q", "--verify", incoming).text.strip()
        if arrived != wanted:
            raise MngrError(
                f"{work_dir} reports commit {wanted[:12]}, and it did not arrive", hint="try again: mngr pull"
            )
        notes += _refuse_lost_commits(into, branch, standing.commit, wanted)
        move_branch(into, branch, wanted, standing.commit)
    finally:
        git(into.common_dir, "update-ref", "-d", incoming)
    return Brought(branch, standing.commit, wanted, notes)


def look(host: Host, work_dir: str, *, snapshot: bool = False, keeps_filters: bool = False) -> Report:
    """Asks a work dir on the host for its HEAD, branch, uncommitted files and, on demand, their commit.

    `keeps_filters` is for a work dir with the user's own configuration: its filters make what is committed.
    """
    taking = f"( {snapshot_commit_script(work_dir)})\n" if snapshot else ""
    script = f"""{NEEDS_GIT}cd -- {quote(work_dir)} 2>/dev/null || exit {_NO_WORK_DIR}
[ -e .git ] || exit {_NO_REPOSITORY}
git rev-parse --git-dir >/dev/null || exit {_NO_REPOSITORY}
git rev-parse -q --verify 'HEAD^{{commit}}' || echo
git symbolic-ref -q HEAD || echo
{taking + WITHOUT_FILTERS if keeps_filters else WITHOUT_FILTERS + taking}echo status
git status --porcelain -z
"""
    done = run_script(host, script, timeout_s=600)
    if done.code:
        raise _unreadable(done, host, work_dir)
    head, ref, rest = os.fsdecode(done.stdout).split("\n", 2)
    commit, _, status = rest.partition("status\n")
    snapshot_id = commit.strip()
    return Report(
        head=head,
        branch=ref.removeprefix("refs/heads/"),
        snapshot="" if snapshot_id == head else snapshot_id,
        uncommitted=summarise_status(os.fsencode(status)),
    )


def _unreadable(done: Completed, host: Host, work_dir: str) -> MngrError:
    if done.code == _NO_WORK_DIR:
        return NoRepositoryError(
            f"{work_dir} is gone from {host.name}",
            hint="the agent's files were removed: there is nothing to fetch",
        )
    kind = NoRepositoryError if done.code == _NO_REPOSITORY else MngrError
    return kind(
        f"cannot read a repository in {work_dir} on {host.name}: {done.complaint or 'it has no .git'}",
        hint="its files can still be brought: mngr pull NAME --files PATTERN --to DIR",
    )


def stand(source: Source, branch: str) -> Standing:
    """Where a branch stands now; an empty commit when there is none."""
    form = "--format=%(objectname) %(worktreepath)%00%(refname)%00"
    listed = git(source.common_dir, "for-each-ref", form, f"refs/heads/{branch}").check(
        "cannot list branches"
    )
    fields = os.fsdecode(listed.stdout).split("\0")
    for where, ref in zip(fields[0::2], fields[1::2], strict=False):
        if ref == f"refs/heads/{branch}":
            commit, _, path = where.lstrip("\n").partition(" ")
            return Standing(commit, path)
    unborn = source.top if source.head_branch == branch else ""
    return Standing("", unborn)


def move_branch(source: Source, branch: str, commit: str, before: str) -> None:
    """Moves a branch, or makes it, if it still stands where it stood."""
    done = git(source.common_dir, "update-ref", "-m", "mngr pull", f"refs/heads/{branch}", commit, before)
    if done.code:
        raise RefusedError(
            f'branch "{branch}" cannot be moved: {done.complaint}',
            hint="is a branch with a similar name in the way?",
        )


def _need_repository(into: Source) -> None:
    if not into.common_dir:
        raise RefusedError(
            f"{into.path} is not a git repository, so there is no branch to bring commits to",
            hint="bring files instead: mngr pull NAME --files PATTERN --to DIR",
        )


def _notes(report: Report, branch: str) -> tuple[str, ...]:
    notes = []
    if report.branch != branch and report.head:
        where = f'branch "{report.branch}"' if report.branch else "no branch"
        notes.append(f'the agent is on {where}; its commits come as "{branch}"')
    if report.uncommitted and not report.snapshot:
        notes.append(f"uncommitted work stays there ({report.uncommitted}); --include-dirty brings it")
    return tuple(notes)


def _refuse_checked_out(standing: Standing, branch: str) -> None:
    if standing.checked_out_at:
        raise RefusedError(
            f'branch "{branch}" is checked out in {standing.checked_out_at}, whose files would not fit it',
            hint=f"switch to another branch there first: git -C {standing.checked_out_at} switch OTHER",
        )


def _refuse_lost_commits(into: Source, branch: str, before: str, after: str) -> tuple[str, ...]:
    """Refuses a move that is no fast-forward, but for one of our own snapshots, which newer work replaces."""
    if not before or _is_ancestor(into, before, after):
        return ()
    text = git(into.common_dir, "cat-file", "commit", before).text
    if is_snapshot(text) and _is_ancestor(into, f"{before}^", after):
        return (f"replaced the snapshot of uncommitted work {before[:12]} that was there",)
    raise RefusedError(
        f'branch "{branch}" has commits that the agent does not have: it would not be a fast-forward',
        hint=f"keep yours under another name first: git branch -m {branch} {branch}-mine",
    )


def _is_ancestor(source: Source, older: str, newer: str) -> bool:
    return git(source.common_dir, "merge-base", "--is-ancestor", older, newer).code == 0
