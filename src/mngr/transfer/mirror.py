"""A repository of its own on the host: git's history of the base commit, sent over any stream."""

import os

from mngr.hosts.protocol import Host
from mngr.store.script import quote, words
from mngr.transfer import work_dir as work_dirs
from mngr.transfer.dirty import replay_script, snapshot_commit
from mngr.transfer.fetch import fetch_branch
from mngr.transfer.git import NEEDS_GIT, failed, git, run_script
from mngr.transfer.pack import push_pack
from mngr.transfer.protocol import Brought, Sent, Source
from mngr.transfer.source import content_notes, free_branch, need_git

_DIRTY_REF = "refs/mngr/dirty"
_CHECKOUT_TIMEOUT_S = 1800.0


class MirrorTransfer:
    """The way that works everywhere, local and remote alike: needs git on the host and nothing else."""

    name = "mirror"

    def send(self, source: Source, host: Host, work_dir: str, branch: str) -> Sent:
        need_git(source, self.name)
        branch, notes = free_branch(source, branch)
        dirty = snapshot_commit(source)
        try:
            _initialise(source, host, work_dir, branch)
            _push(source, host, work_dir, branch, dirty)
            _check_out(source, host, work_dir, dirty)
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


def _initialise(source: Source, host: Host, work_dir: str, branch: str) -> None:
    form = ("--object-format=sha256",) if len(source.head) == 64 else ()
    init = words("init", "-q", "--template=", *form, "-b", branch, work_dir)
    done = run_script(host, f"{NEEDS_GIT}{work_dirs.claim_script(host, work_dir)}git {init}\n")
    work_dirs.check_claimed(done, host, work_dir)


def _push(source: Source, host: Host, work_dir: str, branch: str, dirty: str) -> None:
    refspecs = [f"{source.head}:refs/heads/{branch}"] if source.head else []
    if dirty:
        refspecs.append(f"{dirty}:{_DIRTY_REF}")
    if refspecs:
        push_pack(source.common_dir, host, work_dir, refspecs)


def _check_out(source: Source, host: Host, work_dir: str, dirty: str) -> None:
    """Fills in the files, and the source's identity so that the agent can commit."""
    lines = [f"cd -- {quote(work_dir)}"]
    lines += [f"git config {words(key, value)}" for key, value in _identity(source)]
    lines += ["git reset -q --hard"] if source.head else []
    lines += [replay_script(dirty) + f"git update-ref -d {_DIRTY_REF}"] if dirty else []
    done = run_script(host, "\n".join(lines) + "\n", timeout_s=_CHECKOUT_TIMEOUT_S)
    if done.code:
        raise failed(
            f"cannot check out {work_dir} on {host.name}", done, "nothing was left behind; is there room?"
        )


def _identity(source: Source) -> list[tuple[str, str]]:
    done = git(source.top, "config", "-z", "--get-regexp", r"^user\.(name|email)$")
    pairs = (entry.partition("\n") for entry in os.fsdecode(done.stdout).split("\0") if entry)
    return list({key: value for key, _, value in pairs}.items())
