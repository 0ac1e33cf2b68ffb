"""The command under test must be there; everything else comes with the fixture `e2e`."""

import shutil

import pytest


@pytest.fixture(scope="session", autouse=True)
def jot_is_installed() -> None:
    if shutil.which("jot") is None:
        pytest.exit("jot is not on the PATH; install it first: pip install -e '.[test]'", 1)
