"""A command whose end is marked in its own outputs, for hosts that are reached through a client program.

Such clients (ssh, docker exec) do not end while a background child keeps the pipes, confuse their own failures with
the command's, and lose signals. So the far side runs a small sh program that prints a mark on both outputs before and
after the command; what is between the marks is exact, and the exit code follows the last one.
"""

import os
import select
import time
from collections.abc import Mapping, Sequence

from mngr.errors import MngrError, TimedOutError
from mngr.process import Completed, Stream, write_some
from mngr.sh.codes import Exit
from mngr.sh.program import quote, words
from mngr.store.runfile import is_plain

_CHUNK = 1 << 16
# A host that never stops talking must not take all our memory.
_MOST = 128 << 20
_CODE_DIGITS = 3


def new_mark() -> str:
    """A word that nothing else prints, and by which the far side's processes are found."""
    return os.urandom(12).hex()


def plain_program(argv: Sequence[str], env: Mapping[str, str] | None, cwd: str | None) -> str:
    """An sh program that runs a command and ends as it did, with 128+n for signal n."""
    enter = f"cd -- {quote(cwd)} || exit {Exit.NO_DIRECTORY}; " if cwd else ""
    given = {**(env or {})}
    exports = "".join(f"export {name}={quote(value)}; " for name, value in given.items() if is_plain(name))
    odd = [f"{name}={value}" for name, value in given.items() if not is_plain(name)]
    program = f"env {words(*odd, *argv)}" if odd else words(*argv)
    # A shell says on its stderr that a child was killed: that is not the command's, so it goes nowhere.
    return f"{{ (exec 2>&3 3>&-; {enter}{exports}exec {program}); }} 3>&2 2>/dev/null"


def framed_program(argv: Sequence[str], env: Mapping[str, str] | None, cwd: str | None, mark: str) -> str:
    """The same between marks, which are put together there: a list of processes must not show one whole."""
    return (
        f'm={mark}; printf %s "<$m>"; printf %s "<$m>" >&2\n'
        f"{plain_program(argv, env, cwd)}\n"
        "rc=$?; printf '%s%03d' \"<$m>\" $rc; printf '%s%03d' \"<$m>\" $rc >&2\n"
    )


def collect(stream: Stream, mark: str, stdin: bytes, timeout_s: float) -> Completed:
    """Feeds and hears a stream until its command's end; the code is -1 where the stream ended without a mark.

    Raises TimedOutError at the deadline, and MngrError for a flood. The stream is left as it is: kill it.
    """
    deadline = time.monotonic() + timeout_s
    out, err = FramedOutput(mark), FramedOutput(mark)
    ears = {stream.stdout.fileno(): out, stream.stderr.fileno(): err}
    feed, left = stream.stdin.fileno(), memoryview(stdin)
    poller = select.poll()
    for fd in (*ears, feed):
        os.set_blocking(fd, False)
        poller.register(fd, select.POLLOUT if fd == feed else select.POLLIN)
    while not all(ear.is_done for ear in ears.values()):
        wait_s = deadline - time.monotonic()
        if wait_s <= 0:
            raise TimedOutError(f"no end within {timeout_s:g} s")
        for fd, _ in poller.poll(wait_s * 1000):
            if fd == feed:
                left = write_some(fd, left)
                if not left:
                    poller.unregister(fd)
                    stream.stdin.close()
            elif not ears[fd].hear(fd):
                poller.unregister(fd)
    return Completed((), min(out.code, err.code), out.framed, err.framed)


class FramedOutput:
    """One output: what was said between the marks, or all of it while there are none."""

    def __init__(self, mark: str) -> None:
        self._mark, self._heard = f"<{mark}>".encode(), bytearray()
        self._begin, self._end, self.is_done, self.code = -1, -1, False, -1

    def hear(self, fd: int) -> bool:
        """Takes what is there; False when nothing more can come."""
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return True
        self.take(data)
        return bool(data)

    def take(self, data: bytes) -> None:
        """Adds what was said; nothing means that nothing more can come."""
        if len(self._heard) > _MOST:
            raise MngrError(f"a command there printed more than {_MOST >> 20} MB")
        if self.code < 0:
            before = max(0, len(self._heard) - len(self._mark))
            self._heard += data
            self._look(before)
        self.is_done = self.is_done or not data

    @property
    def framed(self) -> bytes:
        begin = self._begin + len(self._mark) if self._begin >= 0 else 0
        return bytes(self._heard[begin : self._end if self._end >= 0 else None])

    def _look(self, since: int) -> None:
        if self._begin < 0:
            self._begin = self._heard.find(self._mark, since)
        after = self._begin + len(self._mark)
        if self._begin >= 0 and self._end < 0:
            self._end = self._heard.find(self._mark, max(since, after))
        if self._end < 0:
            return
        ends_at = self._end + len(self._mark)
        digits = self._heard[ends_at : ends_at + _CODE_DIGITS]
        if len(digits) == _CODE_DIGITS:
            # A host that prints no code here has not said how the command ended.
            self.is_done, self.code = True, int(digits) if digits.isdigit() else -1
