"""A virtual environment for one working copy that shares all packages of another Python, file by file.

Runs under the Python that lends. Its site directories are searched after those of the new environment, so that no
package is copied. What that Python has installed editably from the run's own repository is made to point into the
working copy instead.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
import site
import sys
import sysconfig
from importlib import metadata
from typing import NamedTuple
from urllib.request import pathname2url

LOADER = "_mngr_borrowed"
# Sorts after every other .pth file: what the working copy brings comes before what is shared.
PTH = "~mngr-borrowed.pth"
LOADER_TEXT = '''\
"""Written by mngr-result: the packages that this environment shares with {prefix}."""

import site
import sys

# Nothing that runs here may write into the folders it shares, compiled modules included.
sys.dont_write_bytecode = True
for _folder, _name in {pth_files!r}:
    site.addpackage(_folder, _name, None)
'''
SHEBANG_LIMIT = 127
CONSOLE_SCRIPT = """\
import sys

from {module} import {first}

if __name__ == "__main__":
    sys.exit({function}())
"""


class Venv(NamedTuple):
    """Where an environment is; `packages` is its site-packages."""

    prefix: str
    packages: str

    @property
    def bin(self) -> str:
        return os.path.join(self.prefix, "bin")

    @property
    def python(self) -> str:
        return os.path.join(self.prefix, "bin", "python")


class Moved(NamedTuple):
    """A repository and the working copy that stands for it; what lies in `kept` belongs to neither."""

    repo: str
    copy: str
    kept: str

    def path(self, path: str) -> str:
        """The path, in the working copy where it was in the repository."""
        real = os.path.realpath(path)
        if not self.repo or is_in(real, self.kept) or not is_in(real, self.repo):
            return path
        return os.path.normpath(os.path.join(self.copy, os.path.relpath(real, self.repo)))

    def text(self, text: str) -> str:
        """A text with every path of the repository replaced."""
        if not self.repo or self.repo not in text:
            return text
        end = r"(?=[/\"'\s:;,)\]}]|$)"
        kept = re.escape(self.kept) + end if is_in(self.kept, self.repo) else r"(?!)"
        pattern = re.compile("(" + kept + ")|" + re.escape(self.repo) + end)
        return pattern.sub(lambda found: found.group(1) or self.copy, text)


def is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def site_folders() -> list[str]:
    """The site directories of this Python, in the order in which they are searched."""
    folders = list(site.getsitepackages())
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]


def make_venv(prefix: str) -> Venv:
    """A virtual environment of this Python without any package. Twice is safe."""
    executable = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    version = os.path.basename(sysconfig.get_path("stdlib"))
    venv = Venv(prefix, os.path.join(prefix, "lib", version, "site-packages"))
    os.makedirs(venv.packages, exist_ok=True)
    os.makedirs(venv.bin, exist_ok=True)
    lines = (
        "home = " + os.path.dirname(executable),
        "include-system-site-packages = false",
        "version = {}.{}.{}".format(*sys.version_info[:3]),
        "mngr-python = " + sys.executable,
    )
    write_text(os.path.join(prefix, "pyvenv.cfg"), "\n".join(lines) + "\n")
    for name, target in (
        ("python", executable),
        ("python3", "python"),
        ("python{}.{}".format(*sys.version_info[:2]), "python"),
    ):
        path = os.path.join(venv.bin, name)
        if not os.path.lexists(path):
            os.symlink(target, path)
    return venv


def share_packages(venv: Venv, moved: Moved, more: list[str]) -> None:
    """Lets the environment see the packages of `more` and of this Python, as they are now."""
    kept = [
        (folder, name)
        for folder in site_folders()
        for name in sorted(os.listdir(folder))
        if name.endswith(".pth") and not name.startswith(".") and not _moved_pth(venv, moved, folder, name)
    ]
    for folder in site_folders():
        for path in glob.glob(os.path.join(glob.escape(folder), "_*editable*.py")):
            text = read_text(path)
            if moved.text(text) != text:
                write_text(os.path.join(venv.packages, os.path.basename(path)), moved.text(text))
    text = LOADER_TEXT.format(prefix=sys.prefix, pth_files=kept)
    write_text(os.path.join(venv.packages, LOADER + ".py"), text)
    # As plain lines, so that pip, which builds without the packages of an environment, finds out which these are.
    lines = [*more, *site_folders(), "import " + LOADER]
    write_text(os.path.join(venv.packages, PTH), "\n".join(lines) + "\n")


def _moved_pth(venv: Venv, moved: Moved, folder: str, name: str) -> bool:
    """Writes a .pth file that leads into the repository anew, so that it leads into the working copy."""
    before = read_text(os.path.join(folder, name)).splitlines()
    after = []
    for line in before:
        if line.strip() and not line.startswith(("import ", "import\t", "#")):
            path = os.path.join(folder, line.strip())
            if moved.path(path) != path or os.path.isdir(path):
                line = moved.path(path)
        after.append(moved.text(line) if line.startswith("import") else line)
    if after == before:
        return False
    write_text(os.path.join(venv.packages, name), "\n".join(after) + "\n")
    return True


class EditableDistribution(NamedTuple):
    """A distribution that the lending Python has installed editably from the repository."""

    name: str
    folder: str


def editable_distributions(venv: Venv, moved: Moved) -> list[EditableDistribution]:
    """Copies what is known of each distribution of the repository, so that it is found before the shared one."""
    found = []
    for folder in site_folders():
        for info in glob.glob(os.path.join(glob.escape(folder), "*.dist-info")):
            source = _source_of(info)
            if source and moved.path(source) != source:
                found.append(
                    EditableDistribution(plain_name(os.path.basename(info).split("-")[0]), moved.path(source))
                )
                _copy_info(info, venv, moved.path(source))
        for link in glob.glob(os.path.join(glob.escape(folder), "*.egg-link")):
            source = read_text(link).partition("\n")[0].strip()
            if source and moved.path(source) != source:
                name = os.path.basename(link)[: -len(".egg-link")]
                found.append(EditableDistribution(plain_name(name), moved.path(source)))
                for info in glob.glob(os.path.join(glob.escape(source), "*.egg-info")):
                    if os.path.isdir(info):
                        _copy_info(info, venv, "")
    return found


def _source_of(info: str) -> str:
    try:
        known = json.loads(read_text(os.path.join(info, "direct_url.json")))
        is_editable = known["dir_info"].get("editable", False)
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return ""
    from urllib.parse import unquote, urlsplit

    return unquote(urlsplit(known["url"]).path) if is_editable else ""


def _copy_info(info: str, venv: Venv, source: str) -> None:
    target = os.path.join(venv.packages, os.path.basename(info))
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(info, target)
    if source:
        write_text(os.path.join(target, "direct_url.json"), direct_url(source))


def direct_url(folder: str) -> str:
    return json.dumps({"dir_info": {"editable": True}, "url": "file://" + pathname2url(folder)})


def forget(venv: Venv, name: str) -> None:
    """Removes what is known of a distribution in this environment."""
    for entry in os.listdir(venv.packages):
        stem, extension = os.path.splitext(entry)
        if extension in (".dist-info", ".egg-info") and plain_name(stem.split("-")[0]) == name:
            shutil.rmtree(os.path.join(venv.packages, entry), ignore_errors=True)


def write_programs(venv: Venv, moved: Moved, more: list[str]) -> None:
    """A program of this environment for each of the shared one: under its own Python it would see other code."""
    taken = {"python", "python3", "mngr-result"}
    for info in metadata.distributions(path=[*more, *sys.path]):
        for point in info.entry_points:
            if point.group == "console_scripts" and point.name not in taken and "/" not in point.name:
                taken.add(point.name)
                write_console_script(venv, point.name, point.value)
    if sys.prefix == sys.base_prefix:
        return
    # Of programs that are no entry points the text, started by the Python of this environment.
    for entry in os.scandir(os.path.join(sys.prefix, "bin")):
        if entry.name in taken or entry.name.startswith(("python", "activate")) or not entry.is_file():
            continue
        with open(entry.path, "rb") as file:
            if file.read(2) != b"#!":
                continue
        text = read_text(entry.path)
        body = script_body(text, sys.prefix)
        if body is not None:
            write_script(venv, entry.name, moved.text(body))


def script_body(text: str, prefix: str) -> str | None:
    """What a Python program says after the lines that name its interpreter; None when that is not of `prefix`."""
    first, _, rest = text.partition("\n")
    if is_in(first[2:].strip().split(" ")[0], prefix):
        return rest
    longer = re.match(r"'''exec' (\"[^\"]+\"|\S+) \"\$0\" \"\$@\"\n' '''\n", rest)
    return rest[longer.end() :] if longer and is_in(longer.group(1).strip('"'), prefix) else None


def write_console_script(venv: Venv, name: str, value: str) -> None:
    found = re.match(r"([\w.]+)\s*:\s*([\w.]+)", value)
    if found:
        module, function = found.groups()
        text = CONSOLE_SCRIPT.format(module=module, function=function, first=function.split(".")[0])
        write_script(venv, name, text)


def write_script(venv: Venv, name: str, body: str) -> None:
    """A program that the environment's Python runs."""
    first = "#!" + venv.python
    if len(first) > SHEBANG_LIMIT or " " in first:
        # The kernel cuts a long #! line and splits one at a space: sh reads the next line, Python a string.
        first = f"#!/bin/sh\n'''exec' \"{venv.python}\" \"$0\" \"$@\"\n' '''"
    path = os.path.join(venv.bin, name)
    if os.path.lexists(path):
        os.unlink(path)
    write_text(path, first + "\n" + body, 0o755)


def shared_marks() -> dict[str, int]:
    """What pip changes when it installs into this Python: names, and when metadata was written."""
    folders = [*site_folders(), *([os.path.join(sys.prefix, "bin")] if sys.prefix != sys.base_prefix else [])]
    marks = {}
    for folder in folders:
        for entry in os.scandir(folder):
            if entry.name == "__pycache__":
                continue
            is_record = entry.name.endswith((".dist-info", ".egg-info", ".pth", ".egg-link"))
            marks[entry.path] = entry.stat(follow_symlinks=False).st_mtime_ns if is_record else 0
    return marks


def plain_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def read_text(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


def write_text(path: str, text: str, mode: int = 0o644) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)
    os.chmod(path, mode)
