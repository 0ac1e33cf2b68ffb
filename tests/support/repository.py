"""Repositories for tests, made once by git and copied afterwards: a copy costs a tenth of six gits."""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from mngr.process import run


def copy_of(make: Callable[[Path], None], path: Path) -> None:
    """Puts the repository that `make` builds in an empty folder at `path`, which must not exist yet.

    `make` is called once in a process, so it must not depend on the test that asks.
    """
    shutil.copytree(_template(make), path, symlinks=True)


@cache
def _template(make: Callable[[Path], None]) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="template-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made = folder / "repository"
    made.mkdir()
    make(made)
    return made


def commit_all(path: Path, *, name: str, email: str, message: str) -> None:
    """Makes a folder a repository and commits what is in it on the branch `main`."""
    make_empty(path, name=name, email=email)
    for arguments in (("add", "."), ("commit", "-q", "--allow-empty", "-m", message)):
        _git(path, *arguments)


def make_empty(path: Path, *, name: str, email: str) -> None:
    """Makes a folder a repository without commits whose commits would be by that person."""
    for arguments in (
        ("init", "-q", "-b", "main"),
        ("config", "user.name", name),
        ("config", "user.email", email),
    ):
        _git(path, *arguments)


def _git(path: Path, *arguments: str) -> None:
    env = {"HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    run(["git", *arguments], cwd=str(path), env=env).check(f"git {arguments[0]}")
