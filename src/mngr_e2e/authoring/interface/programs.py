"""What programs can do, asked of themselves or looked up in their reference, one command at a time."""

import math
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping

from msgspec import Struct

from mngr_e2e.authoring.interface.help_pages import Help, accepts_arguments, read_help

_TIMEOUT_S = 10.0
_MOST_BYTES = 1 << 20
_ASKABLE = re.compile(r"[a-z][a-z0-9-]*\Z")
_PAGES = (".md", ".txt", ".rst", *(f".{section}" for section in range(1, 9)))
_ROFF = re.compile(r"\\f[BIRP]|\\&|^\.(?:B|I|BR|SH|SS|TH) ", re.MULTILINE)
_DOES_HELP = re.compile(r"usage|options|synopsis|commands", re.IGNORECASE)
_NO_SUCH = "mngr-no-such-command"
_REFUSES = re.compile(
    r"no such (?:sub-?)?command|(?:unknown|invalid|unrecognized|unrecognised|undefined) (?:sub-?)?command|no command"
    r"|invalid choice|unrecognized arguments|unexpected argument|not an? (?:[\w-]+ )?(?:sub-?)?command|not found in",
    re.IGNORECASE,
)

Path = tuple[str, ...]


class Fallback(Struct, frozen=True):
    """What a command does with a word that is none of its commands; neither field is set when that is not known."""

    refuses: bool = False
    help: Help | None = None
    """The help of its default command."""


class Programs:
    """Help by command path, such as `("git", "remote", "add")`; each is asked for once."""

    def __init__(
        self, folder: str, reference: str = "", *, asks_first: bool = True, budget_s: float = math.inf
    ) -> None:
        """Programs are asked in `folder`; `reference` is a folder or file for those that are not installed.

        Without `asks_first` the reference counts before what is installed. What is not known when `budget_s` is spent
        stays unknown.
        """
        self._folder, self._reference, self._asks_first = folder, reference, asks_first
        self._deadline = time.monotonic() + budget_s
        self._known: dict[Path, Help | None] = {}
        self._pages: dict[str, dict[Path, Help]] = {}
        self._fallbacks: dict[Path, Fallback] = {}

    def help(self, path: Path) -> Help | None:
        """What a command says of itself, or None when that is not known."""
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
        default = self.fallback(path).help
        texts = (above.text, default.text if default else None)
        return below if below and below.text not in texts else None

    def fallback(self, path: Path) -> Fallback:
        """What becomes of a word that is no command, such as `dogs.db` of `sqlite-utils dogs.db`; asked once."""
        if path not in self._fallbacks:
            self._fallbacks[path] = self._ask_fallback(path)
        return self._fallbacks[path]

    def _ask_fallback(self, path: Path) -> Fallback:
        above = self.help(path) or Help()
        is_open = accepts_arguments(above, path)
        if not self._is_asked(path[0]):
            return Fallback(refuses=not is_open)
        code, output = _run_help((*path, _NO_SUCH), self._folder, self._left_s())
        if code == 0 and _DOES_HELP.search(output):
            read = read_help(output)
            is_same = read.text.replace(f" {_NO_SUCH}", "") == above.text
            return Fallback(refuses=not is_open) if is_same else Fallback(help=read)
        return Fallback(refuses=not is_open and bool(_REFUSES.search(output)))

    def _ask(self, path: Path) -> Help | None:
        if not self._is_asked(path[0]):
            return self._read(path[0]).get(path)
        code, output = _run_help(path, self._folder, self._left_s())
        return read_help(output) if code == 0 and _DOES_HELP.search(output) else None

    def _is_asked(self, program: str) -> bool:
        """Whether the program itself tells, and not its reference."""
        return shutil.which(program) is not None and (self._asks_first or not self._read(program))

    def _read(self, program: str) -> dict[Path, Help]:
        if not self._reference:
            return {}
        if program not in self._pages:
            places = [self._reference]
            if not os.path.isfile(self._reference):
                walked = os.walk(self._reference)
                places = [os.path.join(folder, name) for folder, _, names in walked for name in names]
            pages = {}
            for path in sorted(path for path in places if path.endswith(_PAGES)):
                with open(path, encoding="utf-8", errors="replace") as file:
                    text = file.read(_MOST_BYTES)
                pages[path] = _ROFF.sub("", text.replace("\\-", "-")) if path[-1].isdigit() else text
            self._pages[program] = read_reference(program, pages)
        return self._pages[program]

    def _left_s(self) -> float:
        return min(_TIMEOUT_S, self._deadline - time.monotonic())


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
    complete: dict[Path, Help] = {}
    for path in {**found, **below}:
        read, commands = found.get(path, Help()), frozenset(below.get(path, ()))
        # The usage lines of other pages name the commands better than the list of the page itself.
        own, text = commands or read.commands, read.text or " "
        complete[path] = Help(own, read.options, read.valued, text, tells_options=not commands)
    return complete


def _run_help(path: Path, folder: str, timeout_s: float) -> tuple[int | None, str]:
    """How `PROGRAM COMMAND --help` ends and what it prints; no code and no text when it does not end in time."""
    if timeout_s <= 0:
        return None, ""
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
        output = child.communicate(timeout=timeout_s)[0][:_MOST_BYTES].decode(errors="replace")
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        child.wait()
        if child.stdout:
            child.stdout.close()
    return child.returncode, output
