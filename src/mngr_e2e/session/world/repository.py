"""A fresh git repository with one commit for each test: made once by git, then copied from memory."""

import os
import shutil
from collections.abc import Mapping

from mngr_e2e.session.runner import ask
from mngr_lib.git import git_argv

_IDENTITY = "[user]\n\tname = E2e Test\n\temail = e2e@example.com\n[init]\n\tdefaultBranch = main\n"
_README = "# A repository for one test\n"
_WHEN = "2026-01-01T00:00:00Z"
# Filled by the first repository that git makes.
_TEMPLATE: dict[str, bytes | None] = {}


def write_identity(home: str) -> None:
    """Tells git who commits; without it nothing can be committed in a fresh home."""
    with open(os.path.join(home, ".gitconfig"), "w") as file:
        file.write(_IDENTITY)


def make_repository(folder: str, env: Mapping[str, str]) -> None:
    """Fills an empty folder with a repository of one commit on `main`; without git it stays empty."""
    if shutil.which("git", path=env.get("PATH")) is None:
        return
    if _TEMPLATE:
        for name, data in _TEMPLATE.items():
            path = os.path.join(folder, name)
            os.makedirs(path if data is None else os.path.dirname(path), exist_ok=True)
            if data is not None:
                with open(path, "wb") as copy:
                    copy.write(data)
        ask(git_argv("update-index", "-q", "--refresh"), env, cwd=folder)
        return
    with open(os.path.join(folder, "README.md"), "w") as file:
        file.write(_README)
    dated = {**env, "GIT_AUTHOR_DATE": _WHEN, "GIT_COMMITTER_DATE": _WHEN}
    for words in (
        ("init", "-q", "--template=", "-b", "main", "."),
        ("add", "README.md"),
        ("commit", "-q", "-m", "the first commit"),
    ):
        code, printed = ask(git_argv(*words), dated, timeout_s=60, cwd=folder)
        if code:
            raise RuntimeError(f"cannot make the test's repository: {printed.strip()}")
    os.makedirs(os.path.join(folder, ".git", "info"), exist_ok=True)
    _TEMPLATE.update(_read_all(folder))


def _read_all(folder: str) -> dict[str, bytes | None]:
    """Every file below a folder; None stands for an empty directory."""
    found: dict[str, bytes | None] = {}
    for at, folders, files in os.walk(folder):
        inside = os.path.relpath(at, folder)
        if not folders and not files:
            found[inside] = None
        for name in files:
            with open(os.path.join(at, name), "rb") as file:
                found[os.path.join(inside, name)] = file.read()
    return found
