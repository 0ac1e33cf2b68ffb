"""git's own pack protocol between this machine and a host, over the pipes of `Host.stream`."""

import os
import threading
from collections.abc import Mapping, Sequence

from mngr import process
from mngr.errors import RefusedError, TimedOutError
from mngr.hosts.protocol import Host
from mngr.process import CommandFailedError, Completed, Stream
from mngr.sh.program import words
from mngr.transfer.git import check_git, failed, prelude
from mngr.transfer.safe_paths import Limits, show_size
from mngr.transfer.view import Checkout, enter_script
from mngr_lib.git import ISOLATED_SETTINGS, git_argv, git_env

PACK_TIMEOUT_S = 3600.0
CHECKOUT_TIMEOUT_S = 1800.0
MOST_BYTES = Limits().total_bytes
_LAST_WORDS_S = 5.0
# The size of a file is limited in blocks of 512 bytes; a git that meets the limit must live to complain.
_BLOCK = 512
_WITHIN = ("sh", "-c", """trap '' XFSZ; ulimit -f "$0"; exec "$@" """)
_KEPT_STDERR = 1 << 16

_PUSH = (
    *("-c", "protocol.fd.allow=always", "-c", "push.pushOption=", "-c", "push.negotiate=false"),
    *("push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--no-recurse-submodules"),
)
# The objects come from the user's own repository: fsck there would only refuse old projects with old flaws.
_RECEIVE = (
    *("-c", "receive.denyCurrentBranch=ignore", "-c", "receive.shallowUpdate=true"),
    *("-c", "receive.fsckObjects=false", "receive-pack"),
)
_FETCH = (
    *("-c", "protocol.allow=never", "-c", "protocol.fd.allow=always"),
    *("-c", "transfer.fsckObjects=true", "-c", "fetch.fsckObjects=true"),
    # A large file is written as it comes, whatever size it says it has, and not held in memory.
    *("-c", "core.bigFileThreshold=64m"),
    *(
        "fetch",
        "-q",
        "--no-tags",
        "--no-auto-maintenance",
        "--no-recurse-submodules",
        "--no-write-fetch-head",
    ),
    *("--no-prune", "--refmap="),
)
_UPLOAD = ("-c", "uploadpack.allowAnySHA1InWant=true", "upload-pack")


def push_pack(git_dir: str, place: Checkout, refspecs: Sequence[str]) -> None:
    """Sends commits from the repository here into that of a work dir on a host, if it is the agent's own."""
    flags = (word for setting in ISOLATED_SETTINGS for word in ("-c", setting))
    program = prelude(f'{enter_script(place)}its_git {words(*flags, *_RECEIVE)} "$dir"\n')
    stream = place.host.stream(("sh", "-c", program, "mngr"))
    doing = f"cannot send commits to {place.work_dir} on {place.host.name}"
    _carry(stream, (f"--git-dir={git_dir}", *_PUSH), refspecs, doing)


def push_into(
    host: Host, program: str, env: Mapping[str, str], git_dir: str, refspecs: Sequence[str]
) -> Completed:
    """Sends commits from the repository here to a program there that holds `receive_script`, and sees it end."""
    stream = host.stream(("sh", "-c", program, "mngr"), env=env)
    try:
        far = LastWords(stream)
        done = _run_on_pipes(stream, (f"--git-dir={git_dir}", *_PUSH), refspecs)
        stream.stdin.close()
        code = stream.wait(_LAST_WORDS_S if done.code else CHECKOUT_TIMEOUT_S)
        output = far.heard().strip()
    finally:
        stream.kill()
    if done.code:
        output = b"\n".join(part for part in (output, done.stderr.strip(), done.stdout.strip()) if part)
    return check_git(Completed(done.argv, code or done.code, b"", output), host)


def receive_script(path: str) -> str:
    """A shell line that takes in what `push_into` sends, as one pack: a file for each object takes far longer."""
    return f"git {words('-c', 'receive.unpackLimit=1', *_RECEIVE, path)}"


def fetch_pack(
    git_dir: str, host: Host, path: str, refspecs: Sequence[str], *, most_bytes: int = MOST_BYTES
) -> None:
    """Fetches objects, checked, from the repository at `path` on the host, over no other protocol.

    RefusedError when they are more than `most_bytes`; nothing of them is kept then.
    """
    argv = git_argv(*_UPLOAD, path, settings=ISOLATED_SETTINGS)
    stream = host.stream(argv, env=git_env(isolated=True))
    doing = f"cannot fetch commits from {path} on {host.name}"
    try:
        within = (*_WITHIN, str(most_bytes // _BLOCK))
        _carry(stream, (f"--git-dir={git_dir}", *_FETCH), refspecs, doing, within=within)
    except CommandFailedError as error:
        # Packs that ended at the limit, which git leaves lying about.
        with os.scandir(f"{git_dir}/objects/pack") as entries:
            temporary = [entry for entry in entries if entry.name.startswith("tmp_pack_")]
        limit = most_bytes // _BLOCK * _BLOCK
        incomplete = [entry.path for entry in temporary if entry.stat().st_size >= limit]
        for pack in incomplete:
            os.unlink(pack)
        if incomplete:
            raise RefusedError(
                f"{doing}: they are more than {show_size(most_bytes)}",
                hint="nothing was changed; bring the files that you want: mngr pull NAME --files PATTERN --to DIR",
            ) from error
        raise


def _carry(
    stream: Stream,
    before: Sequence[str],
    refspecs: Sequence[str],
    doing: str,
    within: Sequence[str] = (),
) -> None:
    """Runs our git on the pipes of the stream; what the far side said comes first in an error."""
    far = LastWords(stream)
    try:
        done = _run_on_pipes(stream, before, refspecs, within)
        stream.stdin.close()
        timeout_s = 60.0 if done.code == 0 else _LAST_WORDS_S
        try:
            stream.wait(timeout_s)
        except TimedOutError:
            pass
        output = far.heard()
    finally:
        stream.kill()
    if done.code:
        complaint = b"\n".join(
            part for part in (output.strip(), done.stderr.strip(), done.stdout.strip()) if part
        )
        far_done = Completed(done.argv, done.code, b"", complaint)
        raise failed(doing, far_done, "nothing was changed; see what the far side says, then try again")


def _run_on_pipes(
    stream: Stream, before: Sequence[str], refspecs: Sequence[str], within: Sequence[str] = ()
) -> Completed:
    """Runs git, by the program `within` if there is one: then over no other protocol than the pipes."""
    read, write = stream.stdout.fileno(), stream.stdin.fileno()
    argv = (*within, *git_argv(*before, f"fd::{read},{write}/mngr", *refspecs))
    env = git_env({"GIT_ALLOW_PROTOCOL": "fd"} if within else None)
    return process.run_with_fds(argv, pass_fds=(read, write), timeout_s=PACK_TIMEOUT_S, env=env)


class LastWords:
    """Keeps reading a stream's stderr, so that it never blocks, and remembers the end of it."""

    def __init__(self, stream: Stream) -> None:
        self._stderr = stream.stderr
        self._kept = b""
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        try:
            while data := self._stderr.read(4096):
                self._kept = (self._kept + data)[-_KEPT_STDERR:]
        except (OSError, ValueError):
            pass

    def heard(self) -> bytes:
        self._thread.join(_LAST_WORDS_S)
        return self._kept
