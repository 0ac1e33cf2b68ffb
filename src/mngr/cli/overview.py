"""`mngr --help`: a text that ships with the package, and a line for each command of an installed plugin."""

from mngr.cli.shipped import read_shipped
from mngr.registry import plugin_commands


def overview() -> str:
    """The shipped text; plugins' own words come from their manifests, nothing of them is imported."""
    text = read_shipped("help.txt")
    added = sorted(plugin_commands().items())
    if not added:
        return text
    lines = "".join(f"  {_plain(name):<12}{_plain(line)}\n" for name, line in added)
    return f"{text}\nFrom plugins:\n{lines}"


def _plain(text: str) -> str:
    if text.isprintable():
        return text
    from mngr_lib.safe_text import one_line  # few plugins need it

    return one_line(text)
