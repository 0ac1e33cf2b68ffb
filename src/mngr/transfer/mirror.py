"""A repository of its own on the host: git's history of the base commit, sent over any stream."""

import os

from mngr.hosts.protocol import Host
from mngr.store.script import quote, words
from mngr.transfer import work_dir as work_dirs
from mngr.transfer.dirty import replay_script, snapshot_commit
from mngr.transfer.fetch import fetch_branch
from mngr.transfer.git import NEEDS_GIT, failed, git, run_script
from mngr.transfer.pack import push_into, receive_script
from mngr.transfer.protocol import Brought, Sent, Source
from mngr.transfer.source import content_notes, free_branch, need_git

_DIRTY_REF = "refs/mngr/dirty"
_CHECKOUT_TIMEOUT_S = 1800.0
_NOT_RECEIVED, _NOT_CHECKED_OUT = 75, 76


class MirrorTransfer:
    """The way that works everywhere, local and remote alike: needs git on the host and nothing else."""

    name = "mirror"

    def send(self, source: Source, host: Host, work_dir: str, branch: str) -> Sent:
        need_git(source, self.name)
        branch, notes = free_branch(source, branch)
        dirty = snapshot_commit(source)
        try:
            _send(source, host, work_dir, branch, dirty)
        except BaseException:
            work_dirs.remove_claimed(host, work_dir)
            raise
        return Sent(
            work_dir=work_dir,
            branch=branch,
            base_commit=source.head,
            owns_work_dir=True,
            notes=(*notes, *content_notes(source)),
        )

    def bring_back(self, host: Host, work_dir: str, into: Source, branch: str) -> Brought:
        return fetch_branch(host, work_dir, into, branch)


def _send(source: Source, host: Host, work_dir: str, branch: str, dirty: str) -> None:
    """Makes the repository, takes the commits in and fills in the files: one command there, on one stream."""
    refspecs = [f"{source.head}:refs/heads/{branch}"] if source.head else []
    refspecs += [f"{dirty}:{_DIRTY_REF}"] if dirty else []
    script = _script(source, host, work_dir, branch, dirty)
    if refspecs:
        done = push_into(host, script, source.common_dir, refspecs, timeout_s=_CHECKOUT_TIMEOUT_S)
    else:
        done = run_script(host, script, timeout_s=_CHECKOUT_TIMEOUT_S)
    if done.code == _NOT_RECEIVED:
        hint = "nothing was changed; see what the far side says, then try again"
        raise failed(f"cannot send commits to {work_dir} on {host.name}", done, hint)
    if done.code == _NOT_CHECKED_OUT:
        hint = "nothing was left behind; is there room?"
        raise failed(f"cannot check out {work_dir} on {host.name}", done, hint)
    work_dirs.check_claimed(done, host, work_dir)


def _script(source: Source, host: Host, work_dir: str, branch: str, dirty: str) -> str:
    """Shell lines for the host; their exit code says how far they came."""
    form = ("--object-format=sha256",) if len(source.head) == 64 else ()
    init = words("init", "-q", "--template=", *form, "-b", branch, work_dir)
    lines = [f"{NEEDS_GIT}{work_dirs.claim_script(host, work_dir)}git {init}"]
    lines += ['at=; trap \'code=$?; [ "$code" = 0 ] || [ -z "$at" ] || exit "$at"\' EXIT']
    if source.head or dirty:
        # What follows must not speak into the stream that carried the commits.
        lines += [f"at={_NOT_RECEIVED}", receive_script(work_dir), "exec >&2 </dev/null"]
    lines += [f"at={_NOT_CHECKED_OUT}", f"cd -- {quote(work_dir)}"]
    # The source's identity, so that the agent can commit.
    lines += [f"git config {words(key, value)}" for key, value in _identity(source)]
    lines += ["git reset -q --hard"] if source.head else []
    lines += [replay_script(dirty) + f"git update-ref -d {_DIRTY_REF}"] if dirty else []
    return "\n".join(lines) + "\n"


def _identity(source: Source) -> list[tuple[str, str]]:
    done = git(source.top, "config", "-z", "--get-regexp", r"^user\.(name|email)$")
    pairs = (entry.partition("\n") for entry in os.fsdecode(done.stdout).split("\0") if entry)
    return list({key: value for key, _, value in pairs}.items())
