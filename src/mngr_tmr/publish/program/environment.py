"""The environment of a working copy: its own Python packages where the project is Python, and never anyone else's.

The prefix of the virtual environment is the agent's state directory, whose `bin` is first on the PATH of the agent, of
the orchestrator's checks and of the setup; nothing of it is in the working copy.
"""

from __future__ import annotations

import argparse
import fcntl
import glob
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import TYPE_CHECKING

from mngr_tmr.publish.program.config import CONFIG, ProblemError, git
from mngr_tmr.publish.program.installing import (
    build_template,
    find_template,
    installer,
    is_project,
    keep_template,
    parse_requirement,
    pip_install,
    run_to_end,
    template_key,
    write_template,
)
from mngr_tmr.publish.program.sharing import (
    Moved,
    editable_distributions,
    is_in,
    make_venv,
    read_text,
    share_packages,
    shared_marks,
    write_programs,
    write_text,
)
from mngr_tmr.publish.program.toml_files import read_toml

if TYPE_CHECKING:
    from mngr_tmr.publish.program.installing import Template

MARKS = "lender.json"
SHOWN_CHANGES = 5


def environment(options: argparse.Namespace) -> int:
    """Makes the environment, or (`--outside`) prints a PATH without any, or (`--after`) checks the shared one again."""
    state = os.environ["MNGR_AGENT_STATE_DIR"]
    if options.after:
        return look_again(state)
    use_shared_python(state)
    if options.outside:
        print(path_outside(os.environ.get("PATH", ""), state))
    else:
        make_environment(state, has_setup=options.setup)
    if options.setup:
        marks = {"python": sys.executable, "marks": shared_marks()}
        write_text(os.path.join(state, MARKS), json.dumps(marks))
    return 0


def use_shared_python(state: str) -> None:
    """Goes on as the Python whose packages are shared, where this one is already that of the environment."""
    if os.path.realpath(sys.prefix) != os.path.realpath(state):
        return
    for line in read_text(os.path.join(state, "pyvenv.cfg")).splitlines():
        name, _, value = line.partition(" = ")
        if name == "mngr-python":
            os.execv(value, [value, "-B", *sys.argv])
    raise ProblemError(f"{state}/pyvenv.cfg does not say whose packages it shares")


def make_environment(state: str, *, has_setup: bool) -> None:
    copy = os.path.realpath(git("rev-parse", "--show-toplevel").rstrip("\n"))
    cache = os.path.join(os.environ["MNGR_HOST_DIR"], "cache", "tmr")
    os.makedirs(cache, mode=0o700, exist_ok=True)
    moved = Moved(
        os.path.realpath(CONFIG["repo"]) if CONFIG["repo"] else "", copy, os.path.realpath(sys.prefix)
    )
    venv = make_venv(state)
    editable = {one.folder for one in editable_distributions(venv, moved)}
    folder = next(filter(is_project, (os.path.join(copy, CONFIG["folder"]).rstrip("/"), copy)), "")
    template = (
        project_template(cache, copy, folder, moved, is_needed=folder not in editable and not has_setup)
        if folder
        else None
    )
    more = base_packages(cache, missing_requirements(template))
    share_packages(venv, moved, more)
    write_programs(venv, moved, more)
    if template and template.get("is_in_place"):
        problem = pip_install(venv, folder)
        if problem:
            raise build_problem(folder, problem)
    elif template:
        write_template(template, venv, copy)


def project_template(cache: str, copy: str, folder: str, moved: Moved, *, is_needed: bool) -> Template | None:
    """What installing the project leaves; None where it cannot be installed and does not have to be."""
    key = template_key(copy, folder)
    found = find_template(cache, key)
    if found:
        return found
    with locked(cache):
        found = find_template(cache, key)
        if found:
            return found
        try:
            found = build_template(cache, copy, folder, moved)
        except ProblemError as problem:
            if not is_needed or not says_how_to_build(folder):
                print(f"mngr-result: {build_problem(folder, str(problem))}", file=sys.stderr)
                return None
            raise build_problem(folder, str(problem)) from None
        keep_template(cache, key, found)
    return found


def says_how_to_build(folder: str) -> bool:
    known = read_toml(os.path.join(folder, "pyproject.toml")) or {}
    return os.path.exists(os.path.join(folder, "setup.py")) or "build-system" in known


def build_problem(folder: str, problem: str) -> ProblemError:
    return ProblemError(
        f"the project in {folder} cannot be installed into the environment of its working copy: {problem}; "
        "fix its build, or say how it is installed (--setup CMD), or use the environment as it is (--no-own-venv); "
        "where the network was missing, connect once and try again"
    )


@contextmanager
def locked(cache: str) -> Iterator[None]:
    """One at a time on this host; what a build that was killed left goes first."""
    with open(os.path.join(cache, "lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        for left in glob.glob(os.path.join(glob.escape(cache), "build-*")):
            shutil.rmtree(left, ignore_errors=True)
        yield


def missing_requirements(template: Template | None) -> list[str]:
    """What the project depends on, and pytest, as far as this Python has nothing of that name."""
    required = ["pytest"]
    for path, text in (template or {}).get("files", {}).items():
        if path.endswith(".dist-info/METADATA"):
            head = text.partition("\n\n")[0].splitlines()
            required += [line.partition(": ")[2] for line in head if line.startswith("Requires-Dist: ")]
    missing = []
    for text in required:
        parsed = parse_requirement(text)
        is_meant = parsed is not None and (parsed.marker is None or parsed.marker.evaluate({"extra": ""}))
        if is_meant or text == "pytest":
            try:
                metadata.distribution(parsed.name if parsed else text)
            except metadata.PackageNotFoundError:
                missing.append(text)
    return sorted(set(missing))


def base_packages(cache: str, missing: list[str]) -> list[str]:
    """The site-packages of an environment that all copies on this host share, with what their Python lacks."""
    if not missing:
        return []
    key = hashlib.sha256(repr((sys.prefix, sys.version, missing)).encode()).hexdigest()[:24]
    prefix = os.path.join(cache, "base-" + key)
    ready = os.path.join(prefix, "ready")
    if not os.path.exists(ready):
        with locked(cache):
            if not os.path.exists(ready):
                problem = install_base(prefix, missing)
                if problem:
                    shutil.rmtree(prefix, ignore_errors=True)
                    return without_base(missing, problem)
                write_text(ready, "\n".join(missing) + "\n")
    return [make_venv(prefix).packages]


def install_base(prefix: str, missing: list[str]) -> str:
    shutil.rmtree(prefix, ignore_errors=True)
    venv = make_venv(prefix)
    share_packages(venv, Moved("", "", sys.prefix), [])
    tool = installer(venv)
    return run_to_end([*tool, *missing]) if tool else f"neither pip nor uv can be run by {sys.executable}"


def without_base(missing: list[str], problem: str) -> list[str]:
    """Here a user's own environment is used as it is; on another host the tests may not run without these."""
    text = (
        f"{', '.join(missing)} could not be installed: {problem}; connect to the network, or give --setup CMD"
    )
    if "pytest" in missing or not CONFIG["is_local"]:
        raise ProblemError(text)
    print(f"mngr-result: {text}", file=sys.stderr)
    return []


def path_outside(path: str, state: str) -> str:
    """The PATH without the programs of virtual environments."""
    return os.pathsep.join(
        folder
        for folder in path.split(os.pathsep)
        if is_in(folder, state)
        or not os.path.exists(os.path.join(os.path.dirname(folder.rstrip("/")), "pyvenv.cfg"))
    )


def look_again(state: str) -> int:
    """An error where the setup changed the packages of the Python that shares them."""
    known = json.loads(read_text(os.path.join(state, MARKS)))
    if known["python"] != sys.executable:
        os.execv(known["python"], [known["python"], "-B", *sys.argv])
    before, after = known["marks"], shared_marks()
    changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    if changed:
        more = f" and {len(changed) - SHOWN_CHANGES} more" if len(changed) > SHOWN_CHANGES else ""
        names = ", ".join(changed[:SHOWN_CHANGES]) + more
        raise ProblemError(
            f"the setup changed an environment that is not its working copy's: {names}; "
            "let it install with plain `pip` or `python -m pip`, which are those of the working copy"
        )
    return 0
