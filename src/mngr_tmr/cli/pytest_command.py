"""Which Python runs the tests, and whether working copies get an environment of their own that shares its packages."""

import os
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import Any

from msgspec import Struct

import mngr
from mngr_tmr.git import run_git

_PROBE = "import sys, importlib.util as u; print(sys.executable); sys.exit(u.find_spec('pytest') is None)"
_PROBE_S = 60.0
# They make and use environments of their own.
_MANAGERS = frozenset(
    ("uv", "uvx", "poetry", "hatch", "pdm", "tox", "nox", "pipenv", "rye", "conda", "docker", "make")
)


class PytestCommand(Struct, frozen=True):
    """How pytest is started, by an absolute path where packages of this machine are shared; `own_venv` as found."""

    pytest: tuple[str, ...]
    own_venv: bool


class PytestPlace(Struct, frozen=True):
    """Where pytest will run: the repository, its commit, the folder that pytest runs in, and whether that is here."""

    repo: str
    base: str
    folder: str
    is_local: bool


def find_pytest_command(
    place: PytestPlace, settings: Mapping[str, Any], env: Mapping[str, str]
) -> PytestCommand:
    """Chooses the Python; an error only where an environment was asked for that cannot be made."""
    asked = settings.get("pytest", ())
    given = tuple(shlex.split(asked)) if isinstance(asked, str) else tuple(asked)
    own_venv = settings.get("own_venv")
    if own_venv is None:
        # Some bring their environment along: a program of the working copy, or one that makes one.
        program = given[0] if given else ""
        is_of_copy = "/" in program and not os.path.isabs(program)
        has_own = os.path.basename(program) in _MANAGERS or is_of_copy
        own_venv = not has_own and is_python_project(place)
    if not place.is_local:
        return PytestCommand(given or ("python3", "-m", "pytest"), bool(own_venv))
    if not own_venv:
        python = sys.executable if find_spec("pytest") is not None else "python3"
        return PytestCommand(given or (python, "-m", "pytest"), False)
    return PytestCommand(_with_shared_python(given, place.repo, env), True)


def is_python_project(place: PytestPlace) -> bool:
    """Whether the folder, or the top of the repository, is something that pip can install."""
    for folder in dict.fromkeys((place.folder, "")):
        files = (f"{place.base}:{os.path.join(folder, name)}" for name in ("setup.py", "pyproject.toml"))
        setup, project = (run_git(place.repo, "show", file) for file in files)
        if not setup.code:
            return True
        try:
            known = tomllib.loads("" if project.code else project.text)
        except tomllib.TOMLDecodeError:
            continue
        if "project" in known or "build-system" in known or "poetry" in known.get("tool", {}):
            return True
    return False


def _with_shared_python(given: tuple[str, ...], repo: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """The command, started by the Python whose packages are shared."""
    path = env.get("PATH", os.defpath)
    if not given:
        return (_first(_candidates(repo, env)), "-m", "pytest")
    program = shutil.which(given[0], path=path) or given[0]
    if "python" in os.path.basename(program):
        return (_probe(program)[0] or program, *given[1:])
    if os.path.basename(program) in ("pytest", "py.test"):
        # The Python beside a console script, else this one.
        beside = os.path.join(os.path.dirname(program), "python")
        python = beside if os.access(beside, os.X_OK) else sys.executable
        if not os.path.isabs(given[0]):
            python = _first(_candidates(repo, env))
        return (python, "-m", "pytest", *given[1:])
    return given


def _candidates(repo: str, env: Mapping[str, str]) -> Iterable[str]:
    if env.get("VIRTUAL_ENV"):
        yield os.path.join(env["VIRTUAL_ENV"], "bin", "python")
    yield shutil.which("python3", path=env.get("PATH", os.defpath)) or ""
    yield os.path.join(repo, ".venv", "bin", "python")
    yield sys.executable


def _first(candidates: Iterable[str]) -> str:
    """The first that has pytest; without any, the first that runs: pytest is then installed beside it."""
    found = [
        (python, has_pytest) for program in candidates for python, has_pytest in (_probe(program),) if python
    ]
    return next(
        (python for python, has_pytest in found if has_pytest), found[0][0] if found else sys.executable
    )


def _probe(program: str) -> tuple[str, bool]:
    """The executable behind a program such as a shim, empty when it does not run, and whether it has pytest."""
    if not program or not os.access(program, os.X_OK):
        return "", False
    try:
        done = mngr.run_program([program, "-c", _PROBE], timeout_s=_PROBE_S)
    except mngr.MngrError:
        return "", False
    return done.text.strip() if done.code in (0, 1) else "", done.code == 0
