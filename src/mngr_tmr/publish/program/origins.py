"""Where the code under test comes from: imports and programs, inside the working copy, outside it, or unknown."""

from __future__ import annotations

import filecmp
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from typing import Any

from mngr_tmr.publish.program.config import CONFIG, ProblemError, git
from mngr_tmr.publish.program.installed import is_name, is_test_code, lies_in, script_text, text_of

SYSTEM = frozenset(("/bin", "/sbin", "/usr/bin", "/usr/sbin"))
INSIDE, OUTSIDE, UNKNOWN = "inside", "outside", "unknown"
LISTED = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--")
DEEPEST, MOST_NAMES = 4, 300
IMPORTED = re.compile(r"(?:^|;)\s*(?:from\s+([\w.]+)\s+import|import\s+([\w., ]+))", re.M)
QUOTED_PATH = re.compile(r"""["'](/[^"'\n]+)["']""")


def own_names(root: str) -> tuple[list[str], list[str]]:
    """The modules that this working copy holds, as an import would name them, and those of them that are packages."""
    files = set(filter(None, git("-C", root, *LISTED, "*.py").split("\0")))
    bases = {"", "src/"}
    if CONFIG["folder"]:
        bases |= {CONFIG["folder"] + "/", CONFIG["folder"] + "/src/"}
    packages, modules = set(), set()
    for path in files:
        for base in bases:
            parts = path[len(base) :].split("/") if path.startswith(base) else []
            if not parts or len(parts) > DEEPEST or not is_name(parts[0].partition(".py")[0]):
                continue
            if parts[0] == "src" or not all(part.isidentifier() for part in parts[:-1]):
                continue
            depths = [n for n in range(1, len(parts)) if base + "/".join(parts[:n]) + "/__init__.py" in files]
            if depths:
                packages.add(".".join(parts[: depths[0]]))
            elif parts[-1][:-3].isidentifier():
                modules.add(".".join([*parts[:-1], parts[-1][:-3]]))
    return sorted(packages | set(sorted(modules)[:MOST_NAMES])), sorted(packages)


class Origins:
    """Says of everything that the plugin noted where it comes from. `probe` is the file that interpreters run."""

    def __init__(self, order: dict[str, Any], probe: str) -> None:
        self.root, self.repo, self.probe = order["root"], order["repo"], probe
        self.names, self.strong = set(order["names"]), set(order["strong"])
        self._asked: dict[tuple[Any, ...], Any] = {}

    def of(self, notes: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The facts for the orchestrator, each once. Notes were written beside the tests and may be anything."""
        found: dict[tuple[Any, ...], dict[str, Any]] = {}
        for note in [*notes, *self._python_notes(notes), *self._path_notes()]:
            try:
                facts = list(self._facts(note))
            except (KeyError, TypeError, ValueError, AttributeError, OSError, ProblemError):
                continue
            for fact in facts:
                found.setdefault(tuple(fact.values()), fact)
        for fact in self._stated():
            found.setdefault(tuple(fact.values()), fact)
        return list(found.values())

    def _python_notes(self, notes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Distributions of the Python that is first on the PATH, where it is not the one that pytest named."""
        known = {str(note.get("bin")) for note in notes if note["kind"] == "python"}
        for python in filter(None, map(shutil.which, ("python3", "python"))):
            if os.path.dirname(python) not in known:
                known.add(os.path.dirname(python))
                for one in self._ask(python, (), "", "", True).get("distributions", ()):
                    yield {"kind": "installed", **one}

    def _path_notes(self) -> Iterator[dict[str, Any]]:
        """Python programs on the PATH that import the project, whichever interpreter they belong to."""
        seen: set[str] = set()
        for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
            try:
                names = sorted(set(os.listdir(folder)) - seen) if folder and folder not in SYSTEM else []
            except OSError:
                continue
            seen.update(names)
            for name in names:
                path = os.path.join(folder, name)
                text = script_text(path).decode("utf-8", "replace")
                if "python" in text[:200] and self._imported(text) and interpreter_of(path):
                    yield {"kind": "on_path", "name": name, "path": path}

    def _facts(self, note: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if note["kind"] == "module":
            place = self.import_place(note["name"], note["path"], is_imported=True)
            if place != UNKNOWN:
                yield fact("import " + note["name"], note["path"], place, bool(note["used"]))
        elif note["kind"] == "child":
            program = os.path.basename(note["program"])
            if note["name"]:
                place = self.import_place(note["name"], note["path"])
                yield fact("import {} in {}".format(note["name"], program), note["path"], place, True)
            else:
                yield fact(program, note["path"], self.file_place(note["path"]), True)
        elif note["kind"] == "started":
            place, path = self.program(note["path"], note)
            yield fact(note["word"], path, place, True, note["node_id"])
        elif note["kind"] == "on_path":
            place, path = self.program(note["path"], {})
            if place != UNKNOWN:
                yield fact(note["name"], path, place, False)
        elif note["kind"] == "installed":
            self.names.update(note["names"])
            self.strong.update(note["names"])
            for name in (*note["wrapped"], *note["copied"]):
                program = shutil.which(name)
                if program:
                    place, path = self.program(program, {}, note["names"], name in note["copied"])
                    yield fact(name, path, place, False)

    def _stated(self) -> Iterator[dict[str, Any]]:
        """The programs that the run names with --program: they lie in the copy, or it is other code."""
        for name in CONFIG["programs"]:
            program = shutil.which(name)
            if program is None:
                yield fact(name, "", UNKNOWN, False)
                continue
            place, path = self.program(program, {})
            yield fact(name, path, INSIDE if place == INSIDE else OUTSIDE, True)

    def import_place(self, name: str, path: str, is_imported: bool = False) -> str:
        """Where a module's code comes from. The name of a lone module is no sign of this project in any program:
        others have an `app` too. What the tests themselves import under that name is known from the plugin.
        """
        if not path:
            return UNKNOWN
        if lies_in(path, self.root):
            return UNKNOWN if is_test_code(path, self.root) else INSIDE
        if self._is_own(path) and self._is_same(name, path):
            return INSIDE
        is_known = is_imported or name in self.strong or lies_in(path, self.repo)
        return OUTSIDE if is_known else UNKNOWN

    def file_place(self, path: str) -> str:
        if lies_in(path, self.root):
            return UNKNOWN if is_test_code(path, self.root) else INSIDE
        return OUTSIDE if lies_in(path, self.repo) else UNKNOWN

    def program(
        self,
        path: str,
        details: dict[str, Any],
        names: Iterable[str] = (),
        is_copied: bool = False,
    ) -> tuple[str, str]:
        """Where a program's code comes from, and the path that shows it."""
        script = str(details.get("script") or path)
        read = text_of if "script" in details else script_text
        place, text = self.file_place(script), read(script).decode("utf-8", "replace")
        run = [(self.file_place(one), one) for one in QUOTED_PATH.findall(text) if os.path.isfile(one)]
        imports = [*self._imports(path, script, text, details, names), *run]
        outside = [one for found, one in imports if found == OUTSIDE]
        # A script of the copy that arranges its own imports is not judged by those that an interpreter would do.
        if outside and not (place == INSIDE and "sys.path" in text):
            return OUTSIDE, outside[0]
        inside = [one for found, one in imports if found == INSIDE]
        is_ours = not is_copied or (INSIDE in dict(run)) or self._is_copy_of_ours(script)
        if place == UNKNOWN and not is_ours:
            is_other = self._namesakes(script) or not self._is_own(script)
            return (OUTSIDE if is_other else UNKNOWN), script
        if place == UNKNOWN and (inside or is_copied):
            return INSIDE, (inside or [script])[0]
        return place, os.path.realpath(script) if place == INSIDE else script

    def _imports(
        self, path: str, script: str, text: str, details: dict[str, Any], names: Iterable[str]
    ) -> Iterator[tuple[str, str]]:
        """What of the project a Python program imports: as its text says, else all that its distribution has."""
        is_python = os.path.basename(path).startswith(("python", "pypy"))
        python = path if is_python else interpreter_of(path)
        if not python:
            return
        first = os.path.dirname(os.path.realpath(script))
        if "module" in details or "code" in details:
            first = str(details["cwd"])
            text = "import " + details["module"] if "module" in details else str(details["code"])
        modules = self._imported(text)
        if not modules and not is_python:
            modules = list(names)
        if modules:
            answer = self._ask(python, tuple(sorted(modules)), first, str(details.get("search", "")))
            for name, place in answer.get("origins", {}).items():
                if place:
                    yield self.import_place(name, place), place

    def _imported(self, text: str, names: Iterable[str] | None = None) -> list[str]:
        """The project's modules, or those of these names, that a Python text imports."""
        found = re.sub(r"\s", "", ",".join(",".join(pair) for pair in IMPORTED.findall(text))).split(",")
        known = self.names if names is None else names
        return [name for name in known if any(is_below(one, name) for one in found if one)]

    def _ask(self, python: str, names: tuple[str, ...], first: str, search: str, whole: bool = False) -> Any:
        """What another interpreter would import; empty when it cannot be asked."""
        key = (python, names, first, search, whole)
        if key not in self._asked:
            asked = {"names": names, "first": first, "root": self.root, "repo": self.repo}
            request = json.dumps({**asked, "strong": sorted(self.strong)} if whole else asked)
            env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            env.update({"PYTHONPATH": search} if search else {})
            try:
                done = subprocess.run(
                    [python, "-B", self.probe, request],
                    cwd="/",
                    env=env,
                    timeout=60,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
                self._asked[key] = json.loads(done.stdout.decode("utf-8", "surrogateescape"))
            except (OSError, ValueError, subprocess.TimeoutExpired):
                self._asked[key] = {}
        return self._asked[key]

    def _is_own(self, path: str) -> bool:
        """Whether a path lies in an environment that only this working copy has."""
        folders = filter(None, (os.environ.get("MNGR_AGENT_STATE_DIR", ""), self.root))
        return os.path.realpath(path).startswith(tuple(os.path.realpath(one) + os.sep for one in folders))

    def _is_same(self, name: str, path: str) -> bool:
        """Whether an installed module has the very text that the copy has."""
        inner, is_package = name.replace(".", os.sep), os.path.basename(path) == "__init__.py"
        tail = os.path.join(inner, "__init__.py") if is_package else inner + ".py"
        bases = ("", "src", CONFIG["folder"], os.path.join(CONFIG["folder"], "src"))
        return any(same_code(path, os.path.join(self.root, base, tail)) for base in bases)

    def _namesakes(self, script: str) -> list[str]:
        """Files of the copy from which an installer may have made this script."""
        name = os.path.basename(script)
        listed = git("-C", self.root, *LISTED, name, "*/" + name).split("\0")
        return [os.path.join(self.root, path) for path in listed if path]

    def _is_copy_of_ours(self, script: str) -> bool:
        """An installer changes nothing of a script but its first line."""
        return any(body_of(one) == body_of(script) for one in self._namesakes(script))


def fact(what: str, path: str, place: str, used: bool, node_id: str = "") -> dict[str, Any]:
    """`used` says that it was seen to run or to be imported; without, it is what would be."""
    return {"kind": "origin", "what": what, "path": path, "place": place, "used": used, "node_id": node_id}


def is_below(imported: str, name: str) -> bool:
    return (imported + ".").startswith(name + ".") or (name + ".").startswith(imported + ".")


def same_code(one: str, other: str) -> bool:
    if not os.path.isfile(other):
        return False
    if os.path.basename(one) != "__init__.py":
        return filecmp.cmp(one, other, False)
    one, other = os.path.dirname(one), os.path.dirname(other)
    return python_files(one) == python_files(other) and not any(
        filecmp.cmpfiles(one, other, python_files(one), False)[1:]
    )


def body_of(script: str) -> bytes:
    """A script without what says its interpreter, which takes three lines where its path is long."""
    lines = script_text(script).split(b"\n")
    return b"\n".join(lines[3:] if lines[1:2] and lines[1].startswith(b"'''exec'") else lines[1:])


def python_files(folder: str) -> list[str]:
    return sorted(
        os.path.relpath(os.path.join(at, name), folder)
        for at, _, names in os.walk(folder)
        for name in names
        if name.endswith(".py")
    )


def interpreter_of(program: str) -> str:
    """The Python of a script; empty for any other program."""
    head = script_text(program)[:2000].decode("utf-8", "replace")
    longer = re.match(r"#!/bin/sh\n'''exec' (\"[^\"]+\"|\S+)", head)
    if longer:
        return longer.group(1).strip('"')
    words = head.partition("\n")[0][2:].split()
    if words and os.path.basename(words[0]) == "env":
        plain = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        words = [shutil.which(plain[0]) or ""] if plain else []
    return words[0] if words and "python" in os.path.basename(words[0]) else ""
