"""Loads shell programs from their files, with the libraries and exit codes that they name; passes and quotes values."""

import os
from functools import cache

from mngr.errors import UsageError
from mngr.sh.codes import NUMBERS

_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_LIBRARIES = os.path.join(_PACKAGE, "sh", "lib")
READ_AND_RUN = ("sh", "-c", 'eval "$(cat)"', "mngr")
"""Reads a whole program from stdin, then runs it: what it starts cannot read the rest, and `ps` shows none of it."""

_EXIT, _IN_EXIT_NAMES = "$EXIT_", "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
_USES = "# uses: "


@cache
def load(name: str) -> str:
    """The program in the file NAME.sh of this package, or at a whole path, after its libraries, exit codes as numbers.

    Libraries are named in a line `# uses: lock tmux`. Comments and indentation are left out: a line that begins with
    `#` is a comment also inside quotes, and programs must not depend on the indentation of a quoted text. An exit code
    is a word of its own, `"$EXIT_NAME"`, so that it goes as a number, quotes and all.
    """
    parts: dict[str, str] = {}
    _collect(os.path.join(_PACKAGE, f"{name}.sh"), parts)
    # No pattern: compiling one would take longer than all the rest.
    head, *pieces = "".join(parts.values()).split(_EXIT)
    for piece in pieces:
        rest = piece.lstrip(_IN_EXIT_NAMES)
        number = NUMBERS[piece.removesuffix(rest)]
        if head.endswith('"') and rest.startswith('"'):
            head, rest = head[:-1], rest[1:]
        head += f"{number}{rest}"
    return head


def program(name: str, /, **values: str | int) -> str:
    """A program after the assignments of its parameters; `host_dir=…` becomes the variable `HOST_DIR`."""
    return assignments(**values) + load(name)


def assignments(**values: str | int) -> str:
    """Shell lines that assign values to variables, whose names are the given ones in upper case."""
    return "".join(f"{name.upper()}={quote(str(value))}\n" for name, value in values.items())


def argv(name: str, /, *parameters: str, **values: str | int) -> tuple[str, ...]:
    """The command that runs a program with positional and other parameters and leaves stdin to it."""
    return ("sh", "-c", assignments(**values) + load(name), f"mngr-{os.path.basename(name)}", *parameters)


def quote(text: str) -> str:
    """One shell word that means exactly this text, in dash, busybox and bash alike."""
    if "\0" in text:
        raise UsageError("text for a command holds a NUL byte", hint="remove it: no program can be given one")
    return "'" + text.replace("'", "'\\''") + "'"


def words(*texts: str) -> str:
    """Texts as shell words, joined by blanks."""
    return " ".join(quote(text) for text in texts)


def encode(script: str) -> bytes:
    """Bytes of a script; text that came from the file system or the environment becomes the same bytes again."""
    return script.encode("utf-8", "surrogateescape")


def _collect(path: str, parts: dict[str, str]) -> None:
    """Adds the text of a file to `parts`, after the libraries that it uses; each comes once."""
    if path in parts:
        return
    libraries, text = _read(path)
    for library in libraries:
        _collect(os.path.join(_LIBRARIES, f"{library}.sh"), parts)
    parts[path] = text


@cache
def _read(path: str) -> tuple[list[str], str]:
    """The names of the libraries that a file uses, and its lines without comments and indentation."""
    libraries, lines = [], []
    with open(path, encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line.startswith(_USES):
                libraries += line.removeprefix(_USES).split()
            elif line and line[0] != "#":
                lines.append(line + "\n")
    return libraries, "".join(lines)
