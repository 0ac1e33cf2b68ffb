"""What an interpreter sees of the project: which installed distributions are its own, and where imports come from.

Standalone and for Python 3.8: the plugin uses it in pytest's process, and `mngr-result` runs it with other
interpreters: `python installed.py REQUEST`, where the request is JSON with the keys `root` (the working copy), `repo`
(the checkout that it was made from), `names` (the project's modules) and `strong` (those of them that are packages).
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
from collections.abc import Iterable
from typing import Any

NOT_CODE = frozenset(
    "conftest setup tests test docs doc examples noxfile build dist tasks scripts bin fabfile".split()
)
SHARED = frozenset(("site-packages", "dist-packages", "node_modules"))
TEST_FOLDERS = frozenset(("tests", "test", "e2e", "spec", "specs"))
STANDARD = frozenset(getattr(sys, "stdlib_module_names", sys.builtin_module_names))
SCRIPT_LIMIT = 65536


def lies_in(path: str, folder: str) -> bool:
    """Whether a path is code of this checkout; what lies in a virtualenv or among shared packages is not."""
    real = os.path.realpath(path) if folder else ""
    if not folder or not (real + os.sep).startswith(folder + os.sep):
        return False
    inner, at = os.path.relpath(real, folder).split(os.sep), folder
    if SHARED.intersection(inner):
        return False
    for part in inner[:-1]:
        at = os.path.join(at, part)
        if os.path.isfile(os.path.join(at, "pyvenv.cfg")):
            return False
    return True


def is_test_code(path: str, root: str) -> bool:
    """Tests, their fixtures and helpers: they run in every case, and say nothing of the code under test."""
    inner = os.path.relpath(os.path.realpath(path), root).split(os.sep)
    name = inner[-1]
    is_test = name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"
    return is_test or bool(TEST_FOLDERS.intersection(inner[:-1]))


def is_name(name: str) -> bool:
    # An installer's record also names compiled files and the import hook of an editable install.
    is_code = name not in NOT_CODE and name != "__pycache__" and not name.startswith("__editable__")
    return name.isidentifier() and is_code and name not in STANDARD


def importable(folder: str) -> list[str]:
    """The packages and modules directly in a folder."""
    try:
        entries = os.listdir(folder)
    except OSError:
        return []
    found = [entry[:-3] for entry in entries if entry.endswith(".py")]
    found += [entry for entry in entries if os.path.isfile(os.path.join(folder, entry, "__init__.py"))]
    return [name for name in found if is_name(name)]


def loaded(folder: str) -> list[str]:
    """The packages and modules of a checkout that this process has imported, its tests left out."""
    found = []
    for name, module in tuple(sys.modules.items()):
        parent = sys.modules.get(name.rpartition(".")[0])
        is_top = "." not in name or (parent is not None and not getattr(parent, "__file__", None))
        file = getattr(module, "__file__", None) if is_top else None
        if isinstance(file, str) and lies_in(file, folder) and not is_test_code(file, folder):
            found.append(name)
    return found


def origin(name: str) -> str:
    """Where an import comes from in this process; empty when it cannot be imported. Runs no code of a package."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    try:
        if spec is None and not is_reachable(name):
            return ""
        spec = spec or importlib.util.find_spec(name)
    except Exception:
        return ""
    if spec is None:
        return str(getattr(module, "__file__", None) or "")
    if spec.has_location and spec.origin:
        return str(spec.origin)
    return str(next(iter(spec.submodule_search_locations or ()), ""))


def is_reachable(name: str) -> bool:
    """`find_spec` imports the parents: that is harmless where they are there already or have no code."""
    parent = name.rpartition(".")[0]
    if not parent or parent in sys.modules:
        return True
    spec = importlib.util.find_spec(parent) if is_reachable(parent) else None
    return spec is not None and spec.origin is None


def distributions(root: str, repo: str, strong: Iterable[str]) -> list[dict[str, Any]]:
    """The installed distributions that are this project, with their modules and programs, wherever they point."""
    from importlib import metadata  # slow to load, and many an answer needs none of it

    own, found = set(strong), []
    for dist in metadata.distributions():
        try:
            described = describe(dist, root, repo, own)
        except Exception:  # a damaged installation of something else
            continue
        if described:
            found.append(described)
    return [*found, *loose_scripts(repo)]


def describe(dist: Any, root: str, repo: str, own: set[str]) -> dict[str, Any]:
    files = record_of(dist)
    source = source_of(dist)
    tops = set((dist.read_text("top_level.txt") or "").split())
    places = [source] if source else []
    for file in files:
        first = file.partition("/")[0]
        if "/" not in file and (file.endswith(".pth") or "editable" in file):
            mapped = editable_paths(str(dist.locate_file(file)))
            tops.update(mapped)
            places += [path for path in mapped.values() if path]
        elif "/" in file and not first.startswith("..") and "." not in first:
            tops.add(first)
        elif file.endswith(".py"):
            tops.add(file[:-3])
    for folder in (source, os.path.join(source, "src")) if source and not tops & own else ():
        tops.update(set(importable(folder)) & own)
    is_ours = any(lies_in(place, folder) for place in places for folder in (root, repo))
    if not is_ours and not tops & own:
        return {}
    points = {
        point.name: re.split(r"[:.\s]", point.value)[0]
        for point in dist.entry_points
        if point.group in ("console_scripts", "gui_scripts")
    }
    names = {name for name in {*tops, *points.values()} if is_name(name)}
    copied = {os.path.basename(file) for file in files if is_program(file)} - set(points)
    if not is_ours and not names <= own:
        # Another project with a package of the same name: only what has that name is of interest.
        names, copied = names & own, set()
    wrapped = sorted(program for program, top in points.items() if top in names)
    return {"names": sorted(names), "wrapped": wrapped, "copied": sorted(copied)}


def record_of(dist: Any) -> list[str]:
    """The files of a distribution, as its installer wrote them down."""
    text = dist.read_text("RECORD")
    if text:
        return [line.rsplit(",", 2)[0].strip('"') for line in text.splitlines() if line]
    text = dist.read_text("installed-files.txt")
    # Relative to the metadata, where RECORD is relative to the folder with the modules.
    return [os.path.normpath(os.path.join("x", line)) for line in text.splitlines()] if text else []


def source_of(dist: Any) -> str:
    """The folder that a distribution was installed from; where there is only an egg-link, that of its metadata."""
    from urllib.parse import unquote, urlsplit

    text = dist.read_text("direct_url.json")
    if text:
        parts = urlsplit(json.loads(text).get("url", ""))
        return unquote(parts.path) if parts.scheme == "file" else ""
    place = str(getattr(dist, "_path", ""))
    return os.path.dirname(place) if place.endswith(".egg-info") else ""


def editable_paths(path: str) -> dict[str, str]:
    """Modules and their places behind a .pth file or the mapping of an import hook; names without a place too."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(SCRIPT_LIMIT)
    except OSError:
        return {}
    if path.endswith(".pth"):
        folders = [line.strip() for line in text.splitlines() if line.startswith(os.sep)]
        return {name: folder for folder in folders for name in importable(folder)}
    from ast import literal_eval

    mapping = re.search(r"^MAPPING[^=]*=\s*(\{.*\})", text, re.M)
    found = literal_eval(mapping.group(1)) if mapping else {}
    return {str(name): str(place) for name, place in found.items()}


def is_program(file: str) -> bool:
    folder = os.path.basename(os.path.dirname(file))
    return folder in ("bin", "Scripts") and file.startswith("..") and not file.endswith((".pyc", ".exe"))


def loose_scripts(repo: str) -> list[dict[str, Any]]:
    """Programs beside this interpreter that name the checkout: what `setup.py develop` writes into no list."""
    folder, found = os.path.dirname(sys.executable), []
    for name in os.listdir(folder) if repo and os.path.isdir(folder) else ():
        text = script_text(os.path.join(folder, name)).partition(b"\n")[2]
        # An environment inside the checkout is named by scripts that say their interpreter in the second line.
        if os.fsencode(repo + os.sep) in text.replace(os.fsencode(sys.prefix), b""):
            found.append(name)
    return [{"names": [], "wrapped": sorted(found), "copied": []}] if found else []


def script_text(path: str) -> bytes:
    """The text of a script that says its interpreter; empty for anything else."""
    return text_of(path, b"#!")


def text_of(path: str, start: bytes = b"") -> bytes:
    """The first part of a regular file that begins like this."""
    try:
        if not os.path.isfile(path):
            return b""
        with open(path, "rb") as file:
            head = file.read(len(start))
            return head + file.read(SCRIPT_LIMIT) if head == start else b""
    except OSError:
        return b""


def main() -> None:
    asked = json.loads(sys.argv[1])
    # This file's own folder comes first; that of the program, or where `python -m` is started, takes its place.
    if os.path.realpath(sys.path[0]) == os.path.dirname(os.path.realpath(__file__)):
        sys.path[0:1] = [asked["first"]] if asked["first"] else []
    answer: dict[str, Any] = {"origins": {name: origin(name) for name in asked["names"]}}
    if "strong" in asked:
        answer["distributions"] = distributions(asked["root"], asked["repo"], asked["strong"])
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
