"""What a command answered. Its texts remember the command, so that a failed expectation can name it."""

from typing import SupportsIndex

from msgspec import Struct
from msgspec.structs import force_setattr


class OutputText(str):
    """Text that a command printed; the Result it belongs to survives stripping and slicing."""

    __slots__ = ("result",)
    result: "Result | None"

    def __new__(cls, text: str, result: "Result | None" = None) -> "OutputText":
        made = super().__new__(cls, text)
        made.result = result
        return made

    def strip(self, chars: str | None = None, /) -> "OutputText":
        return OutputText(super().strip(chars), self.result)

    def lstrip(self, chars: str | None = None, /) -> "OutputText":
        return OutputText(super().lstrip(chars), self.result)

    def rstrip(self, chars: str | None = None, /) -> "OutputText":
        return OutputText(super().rstrip(chars), self.result)

    def __getitem__(self, key: "SupportsIndex | slice", /) -> "OutputText":
        return OutputText(super().__getitem__(key), self.result)


class Result(Struct, frozen=True):
    """One command that ended: `exit_code` is 128+n after signal n and 124 when `timed_out`.

    `stdout_left_out` counts bytes that were too many to keep; a line in `stdout` says where they were.
    """

    command: str
    exit_code: int
    stdout: str
    stderr: str
    duration_s: float = 0.0
    timed_out: bool = False
    comment: str = ""
    cwd: str = ""
    stdout_left_out: int = 0
    stderr_left_out: int = 0

    def __post_init__(self) -> None:
        force_setattr(self, "stdout", OutputText(self.stdout, self))
        force_setattr(self, "stderr", OutputText(self.stderr, self))
