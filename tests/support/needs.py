"""Tests that need something of the machine say what; where it is missing they skip, and fail on CI."""

import os
from functools import cache

import pytest

from mngr.process import CommandFailedError, Completed, run


def needs(what: str, *argv: str) -> None:
    """Skips the test unless the command succeeds; with CI set, a missing need is a failure."""
    done = _tried(argv)
    if done.code != 0:
        _missing(what, done)


@cache
def _tried(argv: tuple[str, ...]) -> Completed:
    """Once in a run: what a machine has does not change under its tests."""
    try:
        return run(argv, timeout_s=60)
    except CommandFailedError as error:
        return error.completed


def _missing(what: str, done: Completed) -> None:
    reason = f"needs {what}: {done.complaint or done.code}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
