"""A repository of its own on the host: git's history of the base commit, sent over any stream."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mngr.hosts.framed_exec import new_mark
from mngr.hosts.protocol import Host
from mngr.process import Completed
from mngr.sh.codes import Exit
from mngr.sh.program import READ_AND_RUN, encode, quote, words
from mngr.transfer import work_dir as work_dirs
from mngr.transfer.dirty import replay_script, snapshot_commit
from mngr.transfer.fetch import fetch_branch
from mngr.transfer.git import NEEDS_GIT, failed, git, prelude, run_script
from mngr.transfer.pack import CHECKOUT_TIMEOUT_S, push_into, receive_script
from mngr.transfer.piggyback import MOST, THEN, apart, followed
from mngr.transfer.protocol import Brought, Sent, WorkSource
from mngr.transfer.refs import DIRTY
from mngr.transfer.source import content_notes, free_branch, need_git
from mngr.transfer.view import checkout_of


class MirrorTransfer:
    """The way that works everywhere, local and remote alike: needs git on the host and nothing else."""

    name = "mirror"

    def send(self, source: WorkSource, host: Host, work_dir: str, branch: str) -> Sent:
        sent, dirty = self._decided(source, work_dir, branch)
        with _or_nothing(host, work_dir):
            _send(source, host, sent, dirty)
        return sent

    def plan_send(
        self, source: WorkSource, host: Host, work_dir: str, branch: str
    ) -> tuple[Sent, Callable[[str], Completed]]:
        sent, dirty = self._decided(source, work_dir, branch)

        def send_and_run(lines: str) -> Completed:
            with _or_nothing(host, work_dir):
                if (source.head or dirty) and len(encode(lines)) <= MOST:
                    return _send(source, host, sent, dirty, lines)
                _send(source, host, sent, dirty)
                return host.run(READ_AND_RUN, stdin=encode(lines))

        return sent, send_and_run

    def _decided(self, source: WorkSource, work_dir: str, branch: str) -> tuple[Sent, str]:
        """What will have been sent, and the commit of uncommitted work that comes along."""
        need_git(source, self.name)
        branch, notes = free_branch(source, branch)
        sent = Sent(
            work_dir=work_dir,
            branch=branch,
            base_commit=source.head,
            owns_work_dir=True,
            notes=(*notes, *content_notes(source)),
        )
        return sent, snapshot_commit(source)

    def bring_back(self, host: Host, work_dir: str, into: WorkSource, branch: str) -> Brought:
        return fetch_branch(checkout_of(host, work_dir, self.name, into), into, branch)


@contextmanager
def _or_nothing(host: Host, work_dir: str) -> Iterator[None]:
    try:
        yield
    except BaseException:
        work_dirs.remove_claimed(host, work_dir)
        raise


def _send(source: WorkSource, host: Host, sent: Sent, dirty: str, then: str = "") -> Completed:
    """Makes the repository, takes the commits in and fills in the files: one command there, on one stream.

    `then` follows in the same command; how that ended is returned.
    """
    refspecs = [f"{source.head}:refs/heads/{sent.branch}"] if source.head else []
    refspecs += [f"{dirty}:{DIRTY}"] if dirty else []
    script, mark = _script(source, host, sent, dirty), new_mark()
    if refspecs:
        program, env = (followed(script, mark), {THEN: then}) if then else (prelude(script), {})
        done = push_into(host, program, env, source.common_dir, refspecs)
    else:
        done = run_script(host, script, timeout_s=CHECKOUT_TIMEOUT_S)
    done, then_done = apart(done, mark)
    if done.code == Exit.NOT_RECEIVED:
        hint = "nothing was changed; see what the far side says, then try again"
        raise failed(f"cannot send commits to {sent.work_dir} on {host.name}", done, hint)
    if done.code == Exit.NOT_CHECKED_OUT:
        hint = "nothing was left behind; is there room?"
        raise failed(f"cannot check out {sent.work_dir} on {host.name}", done, hint)
    work_dirs.check_claimed(done, host, sent.work_dir)
    return then_done or done


def _script(source: WorkSource, host: Host, sent: Sent, dirty: str) -> str:
    """Shell lines for the host; their exit code says how far they came."""
    work_dir = sent.work_dir
    form = ("--object-format=sha256",) if len(source.head) == 64 else ()
    init = words("init", "-q", "--template=", *form, "-b", sent.branch, work_dir)
    lines = [f"{NEEDS_GIT}{work_dirs.claim_script(host, work_dir)}git {init}"]
    lines += ['at=; trap \'code=$?; [ "$code" = 0 ] || [ -z "$at" ] || exit "$at"\' EXIT']
    if source.head or dirty:
        # What follows must not speak into the stream that carried the commits.
        lines += [f"at={Exit.NOT_RECEIVED}", receive_script(work_dir), "exec >&2 </dev/null"]
    lines += [f"at={Exit.NOT_CHECKED_OUT}", f"cd -- {quote(work_dir)}"]
    # The source's identity, so that the agent can commit.
    listed = os.fsdecode(git(source.top, "config", "-z", "--get-regexp", r"^user\.(name|email)$").stdout)
    identity = dict(entry.split("\n", 1) for entry in listed.split("\0") if "\n" in entry)
    lines += [f"git config {words(*setting)}" for setting in identity.items()]
    lines += ["git reset -q --hard"] if source.head else []
    lines += [replay_script(dirty) + f"git update-ref -d {DIRTY}"] if dirty else []
    return "\n".join(lines) + "\n"
