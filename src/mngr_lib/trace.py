"""A trace of what mngr runs: every process and every call on another host, one line each when it ends.

With `-v` a line goes to stderr; with `MNGR_TRACE=FILE` in the environment a JSON line is appended to that file. Values
of variables that look like secrets, and well-known forms of tokens, are replaced. Without either, nothing is kept.
"""

import os
import sys
import time
from collections.abc import Sequence
from types import TracebackType

HIDDEN = "[hidden]"

_WORD_SHOWN, _WORD_KEPT = 80, 4096
_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL")
_SECRET_MIN = 8
_TOKENS = r"(sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}|AKIA[0-9A-Z]{16})"

_file = os.environ.get("MNGR_TRACE", "")
_to_stderr = False


def show() -> None:
    """Also prints the trace to stderr, from now on."""
    global _to_stderr
    _to_stderr = True


class Span:
    """A process or a call that has begun. `end` writes its line, once; leaving a `with` ends it too."""

    def __init__(self, argv: Sequence[str], host: str = "") -> None:
        self._argv, self._host, self._began = argv, host, time.monotonic()
        self._is_over = not (_file or _to_stderr)

    def __enter__(self) -> "Span":
        return self

    def __exit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.end(None, type(error).__name__ if error else "")

    def end(self, code: int | None, problem: str = "") -> None:
        """`code` is its exit code; `problem` says what happened where there is none."""
        if self._is_over:
            return
        self._is_over = True
        argv = [without_secrets(word) for word in self._argv]
        took_s = time.monotonic() - self._began
        if _to_stderr:
            outcome = problem or ("" if code is None else f"exit {code}")
            words = " ".join(map(_short, argv))
            where = f"{_short(self._host)}: " if self._host else ""
            sys.stderr.write(f"+ {took_s * 1000:.0f} ms {outcome:7} {where}{words}\n")
        if _file:
            _append(argv, self._host, took_s, code, problem)


def _append(argv: list[str], host: str, took_s: float, code: int | None, problem: str) -> None:
    import json  # only a trace needs it

    record = {
        "at": round(time.time() - took_s, 3),
        "pid": os.getpid(),
        "host": host,
        "argv": [word[:_WORD_KEPT] for word in argv],
        "took_s": round(took_s, 4),
        "code": code,
        "problem": problem,
    }
    line = (json.dumps(record) + "\n").encode()
    try:
        # One write to a file opened for appending: lines of several processes do not mix.
        fd = os.open(_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, line)
        finally:
            os.close(fd)
    except OSError as error:
        sys.stderr.write(f"warning: cannot write the trace {_file!r}: {error.strerror}\n")


def _short(word: str) -> str:
    """A word on one line, and not much of a long one."""
    import shlex

    line = word.replace("\n", "\\n")
    return shlex.quote(line if len(line) <= _WORD_SHOWN else line[: _WORD_SHOWN - 1] + "…")


def without_secrets(word: str) -> str:
    """A text without values of variables that are named like secrets, and without tokens of well-known shapes."""
    import re

    for name, value in os.environ.items():
        if len(value) >= _SECRET_MIN and any(part in name.upper() for part in _SECRET_NAMES):
            word = word.replace(value, HIDDEN)
    return re.sub(_TOKENS, HIDDEN, word)
