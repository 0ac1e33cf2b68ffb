"""The project of a working copy, installed editably into the copy's environment: built once, written many times.

A template holds what an editable install leaves: metadata, .pth files, programs. It is kept under the host dir and
serves every copy whose build files are the same; only the paths differ.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from typing import TYPE_CHECKING, Any

from mngr_tmr.publish.program.config import ProblemError, git
from mngr_tmr.publish.program.sharing import (
    LOADER,
    PTH,
    Moved,
    Venv,
    direct_url,
    forget,
    make_venv,
    plain_name,
    read_text,
    script_body,
    share_packages,
    write_script,
    write_text,
)
from mngr_tmr.publish.program.static_metadata import static_template
from mngr_tmr.publish.program.toml_files import read_toml

FORMAT = 1
KEPT = 50
BUILD_FILES = re.compile(
    r"(pyproject\.toml|setup\.(py|cfg)|MANIFEST\.in|hatch\.toml|hatch_build\.py|build\.py|pdm_build\.py|poetry\.lock"
    r"|.*requirements.*\.txt|VERSION[^/]*|_?_?version(__)?\.(py|txt)|__about__\.py)"
)
NOT_PACKAGES = {"tests", "test", "docs", "doc", "examples", ".github"}
COMPILED = (".so", ".pyd", ".o", ".a", ".dylib")
LEFT_BY_BUILDS = re.compile(r"(^|/)([^/]+\.egg-info|__pycache__|\.eggs)/|^build/")
# How long what was made without a build is used, before the build is tried again.
STATIC_S = 600.0
BUILD_LIMIT_S = 540.0
SHOWN_LINES = 6
COPY, STATE = "@MNGR-COPY@", "@MNGR-STATE@"
RUN_FILE = "__file__ = {path!r}\nwith open(__file__, 'rb') as file:\n    exec(compile(file.read(), __file__, 'exec'))\n"

if TYPE_CHECKING:
    Template = dict[str, Any]


def is_project(folder: str) -> bool:
    """Whether pip could install this folder."""
    if os.path.isfile(os.path.join(folder, "setup.py")):
        return True
    known = read_toml(os.path.join(folder, "pyproject.toml")) or {}
    tools = known.get("tool", {})
    if tools.get("poetry", {}).get("package-mode") is False or tools.get("uv", {}).get("package") is False:
        return False
    return "project" in known or "build-system" in known or "poetry" in tools


def template_key(copy: str, folder: str) -> str:
    """The same for all copies for which an editable install leaves the same."""
    inner = os.path.relpath(folder, copy)
    known = hashlib.sha256(repr((FORMAT, sys.version, sys.prefix, sys.platform, inner)).encode())
    packages = set()
    for line in git("-C", folder, "ls-files", "-s", "-z").split("\0"):
        blob, _, path = line.partition("\t")
        where, name = os.path.split(path)
        if BUILD_FILES.fullmatch(name):
            known.update((blob + path).encode("utf-8", "surrogateescape"))
        if name.endswith(".py") and path.split("/")[0] not in NOT_PACKAGES:
            packages.add(where or name)
        if name == "__init__.py" and where.count("/") <= 1:
            for version in re.findall(
                r"^_*version_*\s*=.*$", read_if_there(os.path.join(folder, path)), re.M | re.I
            ):
                known.update(version.encode("utf-8", "surrogateescape"))
    known.update(repr(sorted(packages)).encode("utf-8", "surrogateescape"))
    return known.hexdigest()[:24]


def read_if_there(path: str) -> str:
    try:
        return read_text(path)
    except OSError:
        return ""


def find_template(cache: str, key: str) -> Template | None:
    path = os.path.join(cache, key + ".json")
    try:
        with open(path, encoding="ascii") as file:
            found: Template = json.load(file)
    except (OSError, ValueError):
        return None
    if found.get("is_static") and not 0 <= time.time() - found["made_at"] < STATIC_S:
        return None
    os.utime(path)
    return found


def keep_template(cache: str, key: str, template: Template) -> None:
    path = os.path.join(cache, key + ".json")
    with open(path + ".new", "w", encoding="ascii") as file:
        json.dump(template, file)
    os.replace(path + ".new", path)
    others = sorted(glob.glob(os.path.join(glob.escape(cache), "*.json")), key=os.path.getmtime)
    for old in others[:-KEPT]:
        os.unlink(old)


def build_template(cache: str, copy: str, folder: str, moved: Moved) -> Template:
    """Installs the project into an environment that goes afterwards, and says what that left."""
    scratch = tempfile.mkdtemp(prefix="build-", dir=cache)
    try:
        venv = make_venv(scratch)
        share_packages(venv, moved, [])
        before = {*files_of(venv), *others_of(copy)}
        problem = pip_install(venv, folder)
        if problem:
            template = static_template(copy, folder) if is_offline(problem) else None
            if template is None:
                raise ProblemError(problem)
            return {**template, "is_static": True, "made_at": time.time()}
        return read_template(venv, copy, folder, before)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def is_offline(problem: str) -> bool:
    """Whether the build failed because something that it needs could not be had, rather than by itself."""
    signs = (
        "No matching distribution",
        "Could not find a version",
        "No module named",
        "onnection",
        "resolution",
    )
    return any(
        sign in problem for sign in (*signs, "Cannot import", "neither pip nor uv", "BackendUnavailable")
    )


def pip_install(venv: Venv, folder: str) -> str:
    """Installs the folder editably and without what it depends on; what went wrong, or nothing."""
    tool = installer(venv)
    if not tool:
        return f"neither pip nor uv can be run by {sys.executable}"
    words = [*tool, "--no-deps", "-e", folder]
    if tool[0] == venv.python:
        words[-3:-3] = ["--no-compile", "--no-warn-script-location", "--use-pep517"]
        if has_build_requirements(folder):
            problem = run_to_end([*words, "--no-build-isolation"])
            if not problem:
                return ""
            isolated = run_to_end(words)
            return f"{problem} | in an isolated build: {isolated}" if isolated else ""
    return run_to_end(words)


def installer(venv: Venv) -> list[str]:
    """How packages are installed into an environment; empty when there is no way."""
    if not can_import(venv, "pip"):
        if shutil.which("uv"):
            return ["uv", "pip", "install", "--quiet", "--python", venv.python]
        if run_to_end([venv.python, "-m", "ensurepip"]):
            return []
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input", "--retries", "1", "--timeout", "20"]
    return [venv.python, "-m", "pip", "install", *quiet]


def can_import(venv: Venv, name: str) -> bool:
    try:
        metadata.distribution(name)
        return True
    except metadata.PackageNotFoundError:
        return bool(glob.glob(os.path.join(glob.escape(venv.packages), name)))


def run_to_end(argv: list[str]) -> str:
    """Runs an installer; the end of its output, if it failed."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    }
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    try:
        done = subprocess.run(
            argv,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=BUILD_LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {BUILD_LIMIT_S:g} s"
    except OSError as error:
        return f"{argv[0]}: {error.strerror}"
    if done.returncode == 0:
        return ""
    lines = [line.strip() for line in done.stdout.decode("utf-8", "replace").splitlines()]
    messages = [
        line for line in lines if line.strip("╰─>╭│ ") and not line.startswith(("hint:", "note:", "[notice]"))
    ]
    return " | ".join(messages[-SHOWN_LINES:]) or f"exit code {done.returncode}"


def has_build_requirements(folder: str) -> bool:
    """Whether this Python has all that building the project needs, so that nothing is downloaded for it."""
    known = read_toml(os.path.join(folder, "pyproject.toml")) or {}
    required = [*known.get("build-system", {}).get("requires", ["setuptools>=64"])]
    if any(plain_name(text).startswith("setuptools") for text in required):
        required.append("setuptools>=64")
        if not is_satisfied("setuptools>=70.1"):
            required.append("wheel")
    return all(is_satisfied(text) for text in required)


def is_satisfied(requirement: str) -> bool:
    parsed = parse_requirement(requirement)
    if parsed is None:
        return False
    if parsed.marker is not None and not parsed.marker.evaluate({"extra": ""}):
        return True
    try:
        return bool(parsed.specifier.contains(metadata.version(parsed.name), prereleases=True))
    except metadata.PackageNotFoundError:
        return False


def parse_requirement(text: str) -> Any:
    """The requirement; None where it cannot be read, or where nothing is there to read it with."""
    for name in ("packaging.requirements", "pip._vendor.packaging.requirements"):
        try:
            module = __import__(name, fromlist=["Requirement"])
        except ImportError:
            continue
        try:
            return module.Requirement(text)
        except ValueError:
            return None
    return None


def files_of(venv: Venv) -> list[str]:
    """All files of an environment, by full path."""
    return [
        os.path.join(folder, name)
        for top in (venv.packages, venv.bin)
        for folder, _, names in os.walk(top)
        for name in names
        if not folder.endswith("__pycache__")
    ]


def others_of(copy: str) -> list[str]:
    """All files of a working copy that git does not have."""
    return [path for path in git("-C", copy, "ls-files", "-o", "-z").split("\0") if path]


def read_template(venv: Venv, copy: str, folder: str, before: set[str]) -> Template:
    new = [path for path in others_of(copy) if path not in before]
    if any(path.endswith(COMPILED) for path in new):
        return {"is_in_place": True}
    made = [
        path for path in new if not LEFT_BY_BUILDS.search(os.path.relpath(os.path.join(copy, path), folder))
    ]
    for path in new:
        if path not in made:
            remove_left(copy, path)
    files = [path for path in files_of(venv) if path not in before]
    return {
        "files": {
            os.path.relpath(path, venv.packages): place_out(read_text(path), venv, copy)
            for path in files
            if path.startswith(venv.packages + os.sep)
        },
        "programs": {
            os.path.basename(path): program_of(path, venv, copy)
            for path in files
            if path.startswith(venv.bin + os.sep) and not os.path.islink(path)
        },
        "products": {path: read_text(os.path.join(copy, path)) for path in made},
        "folder": os.path.relpath(folder, copy),
    }


def remove_left(copy: str, path: str) -> None:
    """Removes a file that a build left in the working copy, and the folders that it made for it."""
    os.unlink(os.path.join(copy, path))
    for _ in range(path.count("/")):
        path = os.path.dirname(path)
        try:
            os.rmdir(os.path.join(copy, path))
        except OSError:
            return


def place_out(text: str, venv: Venv, copy: str) -> str:
    return text.replace(venv.prefix, STATE).replace(copy, COPY)


def program_of(path: str, venv: Venv, copy: str) -> list[str]:
    """What a program is: Python of its own, or a file of the working copy that stays where it is."""
    text = read_text(path)
    body = script_body(text, venv.prefix)
    rest = text.partition("\n")[2] if body is None else body
    name = os.path.basename(path)
    for tracked in git("-C", copy, "ls-files", "-z", "--", name, "*/" + name).split("\0"):
        if tracked and read_text(os.path.join(copy, tracked)).partition("\n")[2] == rest:
            return ["link" if body is None else "file", tracked]
    return ["text", place_out(text, venv, copy)] if body is None else ["python", place_out(body, venv, copy)]


def write_template(template: Template, venv: Venv, copy: str) -> None:
    """Writes what an editable install would leave in this environment, for this working copy."""
    here = {STATE: venv.prefix, COPY: copy}
    names = {
        plain_name(path.split("-")[0])
        for path in template["files"]
        if path.partition("/")[0].endswith(".dist-info")
    }
    for name in names:
        forget(venv, name)
    for path, text in template["files"].items():
        if os.path.basename(path) in (PTH, LOADER + ".py"):
            continue
        target = os.path.join(venv.packages, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        write_text(target, found_first(path, put_in(text, here)))
        if os.path.basename(path) == "direct_url.json":
            write_text(target, direct_url(os.path.normpath(os.path.join(copy, template["folder"]))))
    for name, (kind, value) in template["programs"].items():
        if name == "mngr-result":
            continue
        if kind == "file":
            write_script(venv, name, RUN_FILE.format(path=os.path.join(copy, value)))
        elif kind == "python":
            write_script(venv, name, put_in(value, here))
        else:
            path = os.path.join(venv.bin, name)
            if os.path.lexists(path):
                os.unlink(path)
            if kind == "link":
                os.symlink(os.path.join(copy, value), path)
            else:
                write_text(path, put_in(value, here), 0o755)
    for path, text in template["products"].items():
        os.makedirs(os.path.dirname(os.path.join(copy, path)), exist_ok=True)
        write_text(os.path.join(copy, path), text)


def put_in(text: str, here: dict[str, str]) -> str:
    for mark, path in here.items():
        text = text.replace(mark, path)
    return text


def found_first(path: str, text: str) -> str:
    """An import hook of setuptools asked before shared folders are: they may hold the project as well."""
    if path.endswith(".pth") and "_finder.install()" in text:
        return text.rstrip("\n") + "; import sys; sys.meta_path.insert(0, sys.meta_path.pop())\n"
    return text
