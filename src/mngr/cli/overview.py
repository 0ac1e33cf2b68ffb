"""`mngr --help`: a text that ships with the package, and a line for each command of an installed plugin."""

import os
import sys

from mngr.cli.shipped import read_shipped
from mngr.registry import plugin_commands


def print_overview() -> int:
    try:
        sys.stdout.write(overview())
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    return 0


def overview() -> str:
    """The shipped text; plugins' own words come from their manifests, nothing of them is imported."""
    text = read_shipped("help.txt")
    added = sorted(plugin_commands().items())
    if not added:
        return text
    lines = "".join(f"  {_plain(name):<12}{_plain(line)}\n" for name, line in added)
    return f"{text}\nFrom plugins:\n{lines}"


def _plain(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)
