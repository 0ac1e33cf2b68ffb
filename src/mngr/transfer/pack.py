"""git's own pack protocol between this machine and a host, over the pipes of `Host.stream`."""

import threading
from collections.abc import Mapping, Sequence

from mngr import process
from mngr.errors import TimedOutError
from mngr.hosts.protocol import Host
from mngr.process import Completed, Stream
from mngr.store.script import words
from mngr.transfer.git import ENV, FLAGS, check_git, failed

PACK_TIMEOUT_S = 3600.0
CHECKOUT_TIMEOUT_S = 1800.0
_LAST_WORDS_S = 5.0
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


def push_pack(git_dir: str, host: Host, path: str, refspecs: Sequence[str]) -> None:
    """Sends commits from the repository here into the repository at `path` on the host."""
    stream = host.stream(("git", *FLAGS, *_RECEIVE, path), env=ENV)
    _carry(
        stream, (f"--git-dir={git_dir}", *_PUSH), refspecs, f"cannot send commits to {path} on {host.name}"
    )


def push_into(
    host: Host, program: str, env: Mapping[str, str], git_dir: str, refspecs: Sequence[str]
) -> Completed:
    """Sends commits from the repository here to a program there that holds `receive_script`, and sees it end."""
    stream = host.stream(("sh", "-c", program, "mngr"), env=env)
    try:
        far = LastWords(stream)
        done = _run_on_pipes(stream, (f"--git-dir={git_dir}", *_PUSH), refspecs, ENV)
        stream.stdin.close()
        code = stream.wait(_LAST_WORDS_S if done.code else CHECKOUT_TIMEOUT_S)
        said = far.heard().strip()
    finally:
        stream.kill()
    if done.code:
        said = b"\n".join(part for part in (said, done.stderr.strip(), done.stdout.strip()) if part)
    return check_git(Completed(done.argv, code or done.code, b"", said), host)


def receive_script(path: str) -> str:
    """A shell line that takes in what `push_into` sends, as one pack: a file for each object takes far longer."""
    return f"git {words('-c', 'receive.unpackLimit=1', *_RECEIVE, path)}"


def fetch_pack(git_dir: str, host: Host, path: str, refspecs: Sequence[str]) -> None:
    """Fetches objects, checked, from the repository at `path` on the host, over no other protocol."""
    stream = host.stream(("git", *FLAGS, *_UPLOAD, path), env=ENV)
    doing = f"cannot fetch commits from {path} on {host.name}"
    _carry(stream, (f"--git-dir={git_dir}", *_FETCH), refspecs, doing, env={"GIT_ALLOW_PROTOCOL": "fd"})


def _carry(
    stream: Stream,
    before: Sequence[str],
    refspecs: Sequence[str],
    doing: str,
    env: Mapping[str, str] | None = None,
) -> None:
    """Runs our git on the pipes of the stream; what the far side said comes first in an error."""
    far = LastWords(stream)
    try:
        done = _run_on_pipes(stream, before, refspecs, {**ENV, **(env or {})})
        stream.stdin.close()
        _let_end(stream, 60.0 if done.code == 0 else _LAST_WORDS_S)
        said = far.heard()
    finally:
        stream.kill()
    if done.code:
        complaint = b"\n".join(
            part for part in (said.strip(), done.stderr.strip(), done.stdout.strip()) if part
        )
        far_done = Completed(done.argv, done.code, b"", complaint)
        raise failed(doing, far_done, "nothing was changed; see what the far side says, then try again")


def _let_end(stream: Stream, timeout_s: float) -> None:
    try:
        stream.wait(timeout_s)
    except TimedOutError:
        pass


def _run_on_pipes(
    stream: Stream, before: Sequence[str], refspecs: Sequence[str], env: Mapping[str, str]
) -> Completed:
    read, write = stream.stdout.fileno(), stream.stdin.fileno()
    argv = ("git", *FLAGS, *before, f"fd::{read},{write}/mngr", *refspecs)
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
