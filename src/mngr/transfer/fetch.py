"""Fetches an agent's commits: objects only, checked, into a branch that is not checked out."""

import os
from collections.abc import Sequence

from msgspec import Struct

from mngr.errors import MngrError, RefusedError
from mngr.process import Completed
from mngr.sh.codes import Exit
from mngr.transfer.dirty import is_snapshot
from mngr.transfer.git import git, run_script
from mngr.transfer.pack import fetch_pack
from mngr.transfer.protocol import Brought, WorkSource
from mngr.transfer.refs import INCOMING, temporary_ref
from mngr.transfer.safe_paths import show
from mngr.transfer.source import check_branch, is_commit_id, summarise_status
from mngr.transfer.view import (
    STATUS,
    Checkout,
    commit_values,
    enter_script,
    view_script,
)

_HEAD_TIMEOUT_S, _FILES_TIMEOUT_S = 60.0, 600.0


class NoRepositoryError(MngrError):
    """The work dir is gone, or has no repository."""


class UnreadableError(MngrError):
    """There is a repository, and git cannot read it, or it is not the one that was made for the agent."""


class WorkDirReport(Struct, frozen=True):
    """What a work dir on a host says about itself."""

    head: str
    branch: str
    snapshot: str = ""
    uncommitted: str = ""
    problem: str = ""
    """Why what is uncommitted could not be read."""

    def left_there(self) -> tuple[str, ...]:
        """Notes on uncommitted work that is not fetched, or cannot be read."""
        notes = []
        if self.uncommitted and not self.snapshot:
            notes.append(f"uncommitted work stays there ({self.uncommitted}); --include-dirty brings it")
        if self.problem:
            notes.append(f"whether there is uncommitted work cannot be told: {self.problem}")
        return tuple(notes)


class Standing(Struct, frozen=True):
    """Where a branch of the source repository stands, and the work tree that has it checked out."""

    commit: str
    checked_out_at: str


def fetch_branch(place: Checkout, into: WorkSource, branch: str) -> Brought:
    """Fetches HEAD of the work dir into a branch; refuses what is checked out or would lose commits."""
    if not into.common_dir:
        raise RefusedError(
            f"{into.path} is not a git repository, so there is no branch to bring commits to",
            hint="bring files instead: mngr pull NAME --files PATTERN --to DIR",
        )
    check_branch(branch)
    host, work_dir = place.host, place.work_dir
    report = look(place, snapshot=into.include_dirty)
    standing = stand(into, branch)
    commit, notes = report.snapshot or report.head, report.left_there()
    if report.branch != branch and report.head:
        where = f'branch "{show(report.branch)}"' if report.branch else "no branch"
        notes = (f'the agent is on {where}; its commits come as "{branch}"', *notes)
    if not commit:
        return Brought(branch, standing.commit, standing.commit, (*notes, "the agent has no commits yet"))
    if commit == standing.commit:
        return Brought(branch, commit, commit, (*notes, "nothing new"))
    if standing.checked_out_at:
        raise RefusedError(
            f'branch "{branch}" is checked out in {standing.checked_out_at}, whose files would not fit it',
            hint=f"switch to another branch there first: git -C {standing.checked_out_at} switch OTHER",
        )
    incoming = temporary_ref(INCOMING)
    try:
        fetch_pack(into.common_dir, host, work_dir, [f"{commit}:{incoming}"])
        arrived = git(into.common_dir, "rev-parse", "-q", "--verify", incoming).text.strip()
        if arrived != commit:
            raise MngrError(
                f"{work_dir} reports commit {commit[:12]}, and it did not arrive", hint="try again: mngr pull"
            )
        notes += _refuse_lost_commits(into, branch, standing.commit, commit)
        move_branch(into, branch, commit, standing.commit)
    finally:
        git(into.common_dir, "update-ref", "-d", incoming)
    return Brought(branch, standing.commit, commit, notes)


def look(place: Checkout, *, snapshot: bool = False) -> WorkDirReport:
    """Asks a work dir on its host for its HEAD, branch, uncommitted files and, on demand, a commit of them."""
    program = view_script(place, "sh/lib/commit_view", **commit_values()) if snapshot else view_script(place)
    script = f"""{program}mngr_enter
printf '%s\\n' "$head" "$branch"
( mngr_view
{"mngr_commit_view" if snapshot else ":"}
echo status
if {STATUS} >"$view/status" 2>"$view/problem"; then cat "$view/status"; else echo problem; cat "$view/problem"; fi
)
"""
    done = run_script(place.host, script, timeout_s=_FILES_TIMEOUT_S)
    head, branch, rest = _fields(done, place)
    commit, _, status = rest.partition("status\n")
    is_unreadable = status.startswith("problem\n")
    return WorkDirReport(
        head=head,
        branch=branch,
        snapshot="" if commit.strip() == head else _commit_id(commit.strip(), place),
        uncommitted="" if is_unreadable else summarise_status(os.fsencode(status)),
        problem=show(status.removeprefix("problem\n").strip()) if is_unreadable else "",
    )


def look_at_head(place: Checkout) -> WorkDirReport:
    """Asks for HEAD and branch only: the state of the index and the files does not matter."""
    script = f"""{enter_script(place)}printf '%s\\n' "$head" "$branch"\n"""
    done = run_script(place.host, script, timeout_s=_HEAD_TIMEOUT_S)
    head, branch, _ = _fields(done, place)
    return WorkDirReport(head, branch)


def checked_view(done: Completed, place: Checkout) -> Completed:
    """Itself, unless a program could not enter the repository of a work dir: then the error that says why."""
    where = f"{place.work_dir} on {place.host.name}"
    hint = "its files can still be brought: mngr pull NAME --files PATTERN --to DIR"
    if done.code == Exit.NO_DIRECTORY:
        raise NoRepositoryError(
            f"{place.work_dir} is gone from {place.host.name}",
            hint="the agent's files were removed: there is nothing to fetch",
        )
    if done.code == Exit.NO_REPOSITORY:
        raise NoRepositoryError(f"cannot read a repository in {where}: it has no .git", hint=hint)
    if done.code == Exit.OTHER_REPOSITORY:
        raise UnreadableError(
            f"{where} is not the repository that was made for the agent: its .git leads to another one",
            hint=hint,
        )
    if done.code:
        raise UnreadableError(f"cannot read a repository in {where}: {show(done.complaint)}", hint=hint)
    return done


def _fields(done: Completed, place: Checkout) -> tuple[str, str, str]:
    """HEAD and branch as the script printed them, and the rest."""
    checked_view(done, place)
    head, branch, rest = (*os.fsdecode(done.stdout).split("\n", 2), "", "")[:3]
    return _commit_id(head, place), branch.removeprefix("refs/heads/"), rest


def _commit_id(text: str, place: Checkout) -> str:
    """The text itself: a host that says something else could put an option into our own git's arguments."""
    if text and not is_commit_id(text):
        raise UnreadableError(f"{place.work_dir} on {place.host.name} names {show(text[:80])!r} as a commit")
    return text


def stand(source: WorkSource, branch: str) -> Standing:
    """Where a branch stands now; an empty commit when there is none."""
    return stand_all(source, [branch])[branch]


def stand_all(source: WorkSource, branches: Sequence[str]) -> dict[str, Standing]:
    """The same for many branches, with one question to git."""
    form = "--format=%(objectname) %(worktreepath)%00%(refname)%00"
    refs = [f"refs/heads/{branch}" for branch in branches]
    listed = git(source.common_dir, "for-each-ref", form, *refs).check("cannot list branches")
    fields = os.fsdecode(listed.stdout).split("\0")
    found = {
        ref: where.lstrip("\n").partition(" ") for where, ref in zip(fields[0::2], fields[1::2], strict=False)
    }
    standing = {}
    for branch, ref in zip(branches, refs, strict=True):
        unborn = source.top if source.head_branch == branch else ""
        commit, _, path = found.get(ref, ("", "", unborn))
        standing[branch] = Standing(commit, path)
    return standing


def move_branch(source: WorkSource, branch: str, commit: str, before: str) -> None:
    """Moves a branch, or makes it, if it still stands where it stood."""
    done = git(source.common_dir, "update-ref", "-m", "mngr pull", f"refs/heads/{branch}", commit, before)
    if done.code:
        raise RefusedError(
            f'branch "{branch}" cannot be moved: {done.complaint}',
            hint="is there a branch with a similar name?",
        )


def _refuse_lost_commits(into: WorkSource, branch: str, before: str, after: str) -> tuple[str, ...]:
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


def _is_ancestor(source: WorkSource, older: str, newer: str) -> bool:
    return git(source.common_dir, "merge-base", "--is-ancestor", older, newer).code == 0
