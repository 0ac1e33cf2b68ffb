"""Expectations on files."""

import os
from pathlib import Path
from typing import Self

from mngr_e2e.matchers.failure import Expectation, fail, trim


class PathExpectation(Expectation):
    """`expect(e2e.cwd / "notes.txt")`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def to_exist(self) -> Self:
        """Anything with that name, a dangling link included."""
        __tracebackhide__ = True
        return self._check(os.path.lexists(self._path), f"{self._path} to exist", self._around())

    def to_be_file(self) -> Self:
        __tracebackhide__ = True
        return self._check(self._path.is_file(), f"{self._path} to be a file", self._around())

    def to_be_directory(self) -> Self:
        __tracebackhide__ = True
        return self._check(self._path.is_dir(), f"{self._path} to be a directory", self._around())

    def to_contain(self, part: str) -> Self:
        """A file with this text in it; for a directory, an entry of this name."""
        __tracebackhide__ = True
        if self._path.is_dir():
            return self._check(
                part in os.listdir(self._path), f"{self._path} to contain {part!r}", self._around()
            )
        if not self._path.is_file():
            fail(f"expected a file {self._path}", self._around())
        text = self._path.read_text(errors="replace")
        return self._check(part in text, f"{self._path} to contain {part!r}", f"text:\n{trim(text)}")

    def _around(self) -> str:
        """What is there: the nearest folder that exists, with its entries."""
        folder = self._path if self._path.is_dir() else self._path.parent
        while not folder.is_dir():
            folder = folder.parent
        names = sorted(os.listdir(folder))
        more = f" and {len(names) - 50} more" if len(names) > 50 else ""
        return f"{folder} has: {', '.join(names[:50]) or '(nothing)'}{more}"
