"""One tree of errors. Each says what was asked and found, what to do next, and which exit code it means."""

from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of commands."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    PARTIAL = 3
    NOT_FOUND = 4
    UNREACHABLE = 5
    REFUSED = 6
    BLOCKED = 7
    FINDINGS = 8
    TIMED_OUT = 124
    INTERRUPTED = 130


class MngrError(Exception):
    """Something a user can act on: a message, a hint, an exit code."""

    exit_code = ExitCode.FAILED

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(MngrError):
    """A wrong argument: an option, an address, a filter, a config key."""

    exit_code = ExitCode.USAGE


class NotFoundError(MngrError):
    """No such agent, host, snapshot or run."""

    exit_code = ExitCode.NOT_FOUND


class UnreachableError(MngrError):
    """The machine or its provider is gone or does not answer; whether the command worked is unknown."""

    exit_code = ExitCode.UNREACHABLE


class CapacityError(UnreachableError):
    """The provider refuses for now: a rate limit, a quota, no room. The same call may succeed later.

    `retry_after_s` is how long the provider asks to wait; 0 where it does not say.
    """

    def __init__(self, message: str, *, hint: str = "", retry_after_s: float = 0.0) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class LostError(UnreachableError):
    """The machine and all its files are lost; only its record can still be removed."""


class RefusedError(MngrError):
    """Possible but not allowed: untrusted config, work that would be lost, a taken name."""

    exit_code = ExitCode.REFUSED


class BlockedError(MngrError):
    """Delivered but blocked, or the outcome cannot be known."""

    exit_code = ExitCode.BLOCKED


class TimedOutError(MngrError):
    """A deadline passed."""

    exit_code = ExitCode.TIMED_OUT


def did_you_mean(word: str, known: Iterable[str], *, else_hint: str = "", form: str = '"{}"') -> str:
    """A hint naming the nearest known word, or all of them when none is near; `form` is how it is written."""
    from mngr_lib.suggest import did_you_mean  # `--help` needs none

    return did_you_mean(word, known, else_hint=else_hint, form=form)
