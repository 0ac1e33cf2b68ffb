"""Loads shell programs from their files, with the libraries and exit codes that they name, and passes them values."""

import os
import re
from functools import cache

from mngr.sh.codes import Exit
from mngr.sh.quote import quote

FOLDER = os.path.dirname(__file__)
READ_AND_RUN = ("sh", "-c", 'eval "$(cat)"', "mngr")
"""Reads a whole program from stdin, then runs it: what it starts cannot read the rest, and `ps` shows none of it."""

# Compiled at the first use: most commands load one program.
_CODE = r"\$EXIT_([A-Z_]+)"
_USES = "# uses: "


def load(name: str, folder: str = FOLDER) -> str:
    """The program FOLDER/NAME.sh: exit codes, then its libraries, then itself, without comments and indentation.

    Libraries are named in a line `# uses: lock ring`. A line that begins with `#` is a comment also inside quotes, and
    the indentation of a quoted text is lost: programs must not depend on either.
    """
    return _load(name, folder)


@cache
def _load(name: str, folder: str) -> str:
    parts: dict[str, str] = {}
    _collect(os.path.join(folder, f"{name}.sh"), parts)
    text = "".join(parts.values())
    codes = sorted(set(re.findall(_CODE, text)))
    return "".join(f"EXIT_{code}={Exit[code]:d}\n" for code in codes) + text


def program(name: str, folder: str = FOLDER, **values: str | int) -> str:
    """A program after the assignments of its parameters; `host_dir=…` becomes the variable `HOST_DIR`."""
    return assignments(**values) + load(name, folder)


def assignments(**values: str | int) -> str:
    """Shell lines that assign values to variables, whose names are the given ones in upper case."""
    return "".join(f"{name.upper()}={quote(str(value))}\n" for name, value in values.items())


def argv(name: str, *parameters: str, **values: str | int) -> tuple[str, ...]:
    """The command that runs a program with positional and other parameters and leaves stdin to it."""
    return ("sh", "-c", assignments(**values) + load(name), f"mngr-{name}", *parameters)


def encode(script: str) -> bytes:
    """Bytes of a script; text that came from the file system or the environment becomes the same bytes again."""
    return script.encode("utf-8", "surrogateescape")


def _collect(path: str, parts: dict[str, str]) -> None:
    """Adds the text of a file to `parts`, after the libraries that it uses; each comes once."""
    if path in parts:
        return
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    for line in lines:
        if line.startswith(_USES):
            for library in line.removeprefix(_USES).split():
                _collect(os.path.join(FOLDER, "lib", f"{library}.sh"), parts)
    parts[path] = "".join(f"{line}\n" for line in lines if line and not line.startswith("#"))
