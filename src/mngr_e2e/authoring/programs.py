"""What programs can do, asked of themselves or looked up in their reference, one command at a time."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping

from mngr_e2e.authoring.interface import Help, read_help

_TIMEOUT_S = 10.0
_MOST_BYTES = 1 << 20
_ASKABLE = re.compile(r"[a-z][a-z0-9-]*\Z")
_PAGES = (".md", ".txt", ".rst", *(f".{section}" for section in range(1, 9)))
_ROFF = re.compile(r"\\f[BIRP]|\\&|^\.(?:B|I|BR|SH|SS|TH) ", re.MULTILINE)
_DOES_HELP = re.compile(r"usage|options|synopsis|commands", re.IGNORECASE)

Path = tuple[str, ...]


class Programs:
    """Help by command path, such as `("git", "remote", "add")`; each is asked for once."""

    def __init__(self, folder: str, reference: str = "") -> None:
        """Programs are asked in `folder`; `reference` is a folder or file for those that are not installed."""
        self._folder, self._reference = folder, reference
        self._known: dict[Path, Help | None] = {}
        self._pages: dict[str, dict[Path, Help]] = {}

    def help(self, path: Path) -> Help | None:
        """What a command says of itself, or None when nobody knows."""
        if path not in self._known:
            self._known[path] = self._ask(path)
        return self._known[path]

    def descend(self, path: Path, word: str) -> Help | None:
        """The help of a command below one that has commands; None when it has none of that name.

        A word that is not listed is asked for too, since aliases rarely are; only of a program that dispatches.
        """
        above = self.help(path)
        if above is None or not above.commands or not _ASKABLE.match(word):
            return None
        below = self.help((*path, word))
        if word in above.commands:
            return below or Help(text="")
        return below if below and below.text != above.text else None

    def _ask(self, path: Path) -> Help | None:
        if shutil.which(path[0]):
            text = _help_text(path, self._folder)
            return read_help(text) if text else None
        if not self._reference:
            return None
        if path[0] not in self._pages:
            self._pages[path[0]] = read_reference(path[0], dict(_page_files(self._reference)))
        return self._pages[path[0]].get(path)


def read_reference(program: str, pages: Mapping[str, str]) -> dict[Path, Help]:
    """The commands of a program from the usage lines of its pages; a page's options belong to all its commands.

    A word that any page writes after the program counts as a command: an alias has no usage line of its own.
    """
    name = re.escape(program)
    usage = re.compile(rf"^\W*(?:(?i:usage):\s*)?({name}(?: [a-z][\w-]*)*)(?= [\[<A-Z({{])", re.MULTILINE)
    found: dict[Path, Help] = {}
    for text in pages.values():
        for match in usage.finditer(text):
            found.setdefault(tuple(match[1].split()), read_help(text))
    below: dict[Path, set[str]] = {}
    for path in found:
        for length in range(1, len(path)):
            below.setdefault(path[:length], set()).add(path[length])
    if (program,) in below:
        mentioned = re.compile(rf"(?<![\w-]){name} ([a-z][a-z0-9-]*)")
        below[program,] |= {word for text in pages.values() for word in mentioned.findall(text)}
    return {
        path: _with_commands(found.get(path, Help()), below.get(path, set())) for path in {**found, **below}
    }


def _with_commands(read: Help, commands: set[str]) -> Help:
    return Help(frozenset(commands), read.options, read.valued, read.text or " ")


def _page_files(reference: str) -> Iterator[tuple[str, str]]:
    places = (
        [reference]
        if os.path.isfile(reference)
        else [os.path.join(folder, name) for folder, _, names in os.walk(reference) for name in names]
    )
    for path in sorted(places):
        if path.endswith(_PAGES):
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read(_MOST_BYTES)
            yield path, _ROFF.sub("", text.replace("\\-", "-")) if path[-1].isdigit() else text


def _help_text(path: Path, folder: str) -> str:
    """What `PROGRAM COMMAND --help` prints; "" when it is no help."""
    env = {**os.environ, "PAGER": "cat", "MANPAGER": "cat", "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}
    child = subprocess.Popen(
        [*path, "--help"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=env,
        start_new_session=True,
    )
    try:
        output = child.communicate(timeout=_TIMEOUT_S)[0][:_MOST_BYTES].decode(errors="replace")
    except subprocess.TimeoutExpired:
        return ""
    finally:
        _end(child)
    is_help = child.returncode == 0 and (output.strip() != "") and _DOES_HELP.search(output)
    return output if is_help else ""


def _end(child: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    child.wait()
    if child.stdout:
        child.stdout.close()
