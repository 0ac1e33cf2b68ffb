"""The code of a markdown page: what stands in its fences, by language and heading."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


class Block(NamedTuple):
    """One fence: the heading above it, its language, its text."""

    heading: str
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """Its command lines without their comments; a line that goes on after a pipe or a backslash is one."""
        joined = re.sub(r"(\||\\)\n\s*", lambda end: "| " if end[1] == "|" else "", self.text)
        lines = [re.sub(r"\s{2,}#.*$", "", line).strip() for line in joined.splitlines()]
        return [line for line in lines if line and not line.startswith("#")]


def read_blocks(page: Path) -> list[Block]:
    text = page.read_text()
    headings = [(one.start(), one[1]) for one in _HEADING.finditer(_FENCE.sub(_blank, text))]
    return [
        Block([name for start, name in headings if start < fence.start()][-1], fence[1], fence[2])
        for fence in _FENCE.finditer(text)
    ]


def _blank(fence: re.Match[str]) -> str:
    """As long as it was, so that places stay what they are; a comment in it is no heading."""
    return " " * len(fence[0])
