"""Text files of this package."""

import os

_HERE = os.path.dirname(__file__)


def read_shipped(name: str) -> str:
    with open(os.path.join(_HERE, name), encoding="utf-8") as file:
        return file.read()


def read_equivalents() -> dict[str, str]:
    """`equivalents.txt`: words people know from other tools, `COMMAND` or `COMMAND OPTION`, with a hint for each."""
    lines = (
        line for line in read_shipped("equivalents.txt").splitlines() if line and not line.startswith("#")
    )
    return dict(line.split(": ", 1) for line in lines)


def shipped_topics() -> list[str]:
    """The names of `topics/*.txt`."""
    return sorted(
        name.removesuffix(".txt")
        for name in os.listdir(os.path.join(_HERE, "topics"))
        if name.endswith(".txt")
    )
