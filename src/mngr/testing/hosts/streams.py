"""`Host.stream`."""

import os
import tempfile
import threading

from mngr import process
from mngr.errors import TimedOutError
from mngr.hosts.protocol import Host
from mngr.process import Stream
from mngr.testing.hosts.witness import HARMLESS_WORDS, SLACK_S, assert_gone, raising, raw, streaming
from mngr_lib.git import git_argv

_SETTINGS = (
    *("protocol.allow=never", "protocol.fd.allow=always"),
    *("user.name=Conformance", "user.email=conformance@example.org"),
)


class StreamConformance:
    """`Host.stream`."""

    def test_a_stream_converses(self, host: Host) -> None:
        with streaming(host, ["sh", "-c", 'while read -r line; do echo "<$line>"; done; echo end']) as stream:
            for word in (b"one", b"two"):
                os.write(stream.stdin.fileno(), word + b"\n")
                assert _line(stream) == b"<" + word + b">\n"
            stream.stdin.close()
            assert _line(stream) == b"end\n"
            assert os.read(stream.stdout.fileno(), 1) == b""
            assert stream.wait(SLACK_S) == 0

    def test_a_stream_is_exact_both_ways(self, host: Host) -> None:
        data = os.urandom(1 << 20)
        with streaming(host, ["cat"]) as stream:

            def feed_and_close() -> None:
                left = memoryview(data)
                while left:
                    left = left[os.write(stream.stdin.fileno(), left) :]
                stream.stdin.close()

            feeder = threading.Thread(target=feed_and_close)
            feeder.start()
            heard = _rest(stream.stdout.fileno())
            feeder.join(SLACK_S)
            assert heard == data

    def test_a_streams_errors_are_separate(self, host: Host) -> None:
        with streaming(host, ["sh", "-c", "echo out; echo err >&2; exit 7"]) as stream:
            assert _rest(stream.stdout.fileno()) == b"out\n"
            assert _rest(stream.stderr.fileno()) == b"err\n"
            assert stream.wait(SLACK_S) == 7

    def test_a_stream_gets_arguments_environment_and_directory(self, host: Host) -> None:
        host.write(f"{host.dir}/here/x", b"")
        script = 'for word; do printf "%s\\0" "$word"; done; printf %s "$MNGR_WORD"; test -e x'
        argv = ["sh", "-c", script, "sh", *HARMLESS_WORDS]
        with streaming(host, argv, env={"MNGR_WORD": "$(echo x)"}, cwd=f"{host.dir}/here") as stream:
            heard = _rest(stream.stdout.fileno()).split(b"\0")
            assert heard == [raw(word) for word in HARMLESS_WORDS] + [b"$(echo x)"]
            assert stream.wait(SLACK_S) == 0

    def test_a_streams_odd_ends_are_exit_codes(self, host: Host) -> None:
        with streaming(host, ["sh", "-c", "kill -9 $$"]) as stream:
            assert stream.wait(SLACK_S) == 137
        with streaming(host, ["mngr-no-such-program"]) as stream:
            assert stream.wait(SLACK_S) == 127
        with streaming(host, ["true"], cwd=f"{host.dir}/no/such/dir") as stream:
            assert stream.wait(SLACK_S) not in (0, 255)

    def test_waiting_has_a_deadline_and_the_command_lives_on(self, host: Host) -> None:
        with streaming(host, ["cat"]) as stream:
            with raising(TimedOutError):
                stream.wait(0.3)
            os.write(stream.stdin.fileno(), b"still here\n")
            assert _line(stream) == b"still here\n"

    def test_kill_ends_the_tree_and_twice_is_safe(self, host: Host) -> None:
        with streaming(host, ["sh", "-c", "sleep 300 & echo $$ $!; wait"]) as stream:
            pids = _line(stream).decode().split()
            assert len(pids) == 2
            stream.kill()
            stream.kill()
        assert_gone(host, pids)

    def test_git_pushes_and_fetches_over_a_stream(self, host: Host) -> None:
        there = f"{host.dir}/there.git"
        host.run(git_argv("init", "-q", "--bare", there)).check("init on the host")
        with tempfile.TemporaryDirectory() as here:
            _git(here, "init", "-q")
            _git(here, "commit", "-q", "--allow-empty", "-m", "one")
            commit = _git(here, "rev-parse", "HEAD")
            with streaming(host, git_argv("receive-pack", there)) as stream:
                _git_over(stream, here, "push", "HEAD:refs/heads/work")
            assert host.run(git_argv("-C", there, "rev-parse", "work")).text.strip() == commit
            with streaming(host, git_argv("upload-pack", there)) as stream:
                _git_over(stream, here, "fetch", "refs/heads/work:refs/heads/came-back")
            assert _git(here, "rev-parse", "came-back") == commit


def _line(stream: Stream) -> bytes:
    """One line, byte by byte: what follows stays in the pipe."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(stream.stdout.fileno(), 1)
        if not byte:
            break
        line += byte
    return line


def _rest(fd: int) -> bytes:
    return b"".join(iter(lambda: os.read(fd, 1 << 16), b""))


def _git(repository: str, *words: str) -> str:
    return process.run(git_argv("-C", repository, *words, settings=_SETTINGS)).check("git here").text.strip()


def _git_over(stream: Stream, repository: str, verb: str, refspec: str) -> None:
    """Our git talks to the git at the other end through descriptors: no quoting, no sshd."""
    fds = (stream.stdout.fileno(), stream.stdin.fileno())
    words = ("-C", repository, verb, "-q", f"fd::{fds[0]},{fds[1]}/x", refspec)
    argv = git_argv(*words, settings=_SETTINGS)
    process.run_with_fds(argv, pass_fds=fds, timeout_s=60).check(f"git {verb} over the stream")
    stream.stdin.close()
    assert stream.wait(SLACK_S) == 0
