"""The example as a git repository of its own."""

import os
import shutil
from glob import escape as glob_escape
from glob import glob

from msgspec import Struct

from mngr_tmr.git import run_git

_HERE = os.path.dirname(os.path.abspath(__file__))
_IDENTITY = (("user.name", "Pantry"), ("user.email", "pantry@example.com"))

# Under their own names these would be taken for settings of this repository.
_HIDDEN = {"gitignore": ".gitignore", "dot-mngr": ".mngr"}


class Example(Struct, frozen=True):
    """Where the repository is, and the playbooks of its agents: one per test, named after it."""

    repo: str
    plays: str

    @property
    def play_arg(self) -> str:
        """The argument that gives each scripted agent the playbook of its test."""
        return os.path.join(self.plays, "{test}.json")


def make_example(repo: str) -> Example:
    """Makes the repository in a folder that does not exist yet, with everything committed."""
    return make_from(_HERE, repo, "Pantry 1.0")


def plays_folder() -> str:
    """Where the example's playbooks are."""
    return os.path.join(_HERE, "plays")


def make_from(folder: str, repo: str, message: str) -> Example:
    """Makes a repository from a folder that holds a `project` and its `plays`."""
    shutil.copytree(os.path.join(folder, "project"), repo, ignore=shutil.ignore_patterns("__pycache__"))
    for name, hidden in _HIDDEN.items():
        if os.path.exists(os.path.join(repo, name)):
            os.rename(os.path.join(repo, name), os.path.join(repo, hidden))
    for program in glob(os.path.join(glob_escape(repo), "bin", "*")):
        os.chmod(program, 0o755)
    _git(repo, "init", "-q", "-b", "main")
    for key, value in _IDENTITY:
        _git(repo, "config", key, value)
    _git(repo, "add", "--all")
    _git(repo, "commit", "-q", "-m", message)
    return Example(repo, os.path.join(folder, "plays"))


def commit_all(repo: str, message: str) -> None:
    _git(repo, "add", "--all")
    _git(repo, "commit", "-q", "-m", message)


def _git(repo: str, *words: str) -> None:
    run_git(repo, *words).check(f"git {words[0]}")
