"""A tutorial is a shell script; a block of it is a run of lines without an empty one."""

import re
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from mngr_e2e.tutorial.shell import is_blank, statements

Kind = Literal["command", "gap", "banner", "note", "preamble"]

DRAFT_MARK = "# draft: unreviewed"
"""A line in a block that an agent drafted. Until a person removes it, by review or by hand, the block is a gap."""

_DRAFT = re.compile(r"#\s*draft:\s*unreviewed\b", re.IGNORECASE)
_RULE = re.compile(r"\s*(?:#{3,}|#+\s*(?:={3,}|-{3,}))")
_SETS_OPTIONS = re.compile(r"(?:set|shopt)\s")


class Block(Struct, frozen=True):
    """A run of lines. The id comes from the text alone, so that equal blocks share it and an edit changes one."""

    id: str
    kind: Kind
    section: str
    first_line: int
    last_line: int
    lines: tuple[str, ...]
    comment: str
    commands: tuple[str, ...]
    problem: str = ""
    is_draft: bool = False

    @property
    def text(self) -> str:
        return normal_text("\n".join(self.lines))

    @property
    def title(self) -> str:
        """The one line that names it to a reader: its first command, else its comment."""
        if self.kind == "banner":
            return _heading(self.lines)
        words = self.commands[0] if self.commands else self.comment
        return words.split("\n")[0] or self.lines[0].strip()


def load_blocks(path: str) -> tuple[Block, ...]:
    """The blocks of a file. Bytes that are not UTF-8 are shown as escapes."""
    return read_blocks(load_text(path))


def load_text(path: str) -> str:
    with open(path, "rb") as file:
        return file.read().decode("utf-8", errors="backslashreplace")


def read_blocks(text: str) -> tuple[Block, ...]:
    """Every block of a tutorial, in order."""
    lines = [line.rstrip("\r") for line in text.removeprefix("\ufeff").split("\n")]
    blocks: list[Block] = []
    section, started = "", False
    for is_text, run in groupby(statements(lines), key=lambda statement: bool(statement.text)):
        if not is_text:
            continue
        parts = list(run)
        own = tuple(lines[parts[0].first : parts[-1].end])
        commands = tuple(part.text for part in parts if not part.is_comment)
        comments = [part.text for part in parts if part.is_comment and not is_draft_mark(part.text)]
        is_draft = len(comments) + len(commands) < len(parts)
        block = Block(
            id=block_id("\n".join(own)),
            kind="gap" if is_draft else _kind(own, commands, not started),
            section="",
            first_line=parts[0].first + 1,
            last_line=parts[-1].end,
            lines=own,
            comment="\n".join(map(_comment_text, comments)),
            commands=commands,
            problem=next((f"line {part.first + 1}: {part.problem}" for part in parts if part.problem), ""),
            is_draft=is_draft,
        )
        section = _heading(block.lines) if block.kind == "banner" else section
        started = started or block.kind != "preamble"
        blocks.append(replace(block, section=section))
    return tuple(blocks)


def normal_text(text: str) -> str:
    """The form in which a block and its citation are compared: dedented, without empty lines around it."""
    lines = ["" if is_blank(line) else line.rstrip("\r") for line in text.split("\n")]
    full = [number for number, line in enumerate(lines) if line]
    if not full:
        return ""
    lines = lines[full[0] : full[-1] + 1]
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    while not all(line.startswith(indent) for line in lines if line):
        indent = indent[:-1]
    return "\n".join(line[len(indent) :] for line in lines)


def is_draft_mark(line: str) -> bool:
    return bool(_DRAFT.match(line.strip()))


def block_id(text: str) -> str:
    """The id of the block with this text, indented or not."""
    return "b" + sha256(normal_text(text).encode(errors="backslashreplace")).hexdigest()[:10]


def _kind(lines: Sequence[str], commands: Sequence[str], is_first: bool) -> Kind:
    if is_first and (lines[0].startswith("#!") or (commands and all(map(_SETS_OPTIONS.match, commands)))):
        return "preamble"
    if commands:
        return "command"
    if lines[0].lstrip().startswith("##") or any(map(_RULE.match, lines)):
        return "banner"
    return "note" if _comment_text(lines[0].strip()).lower().startswith("note:") else "gap"


def _comment_text(line: str) -> str:
    return line.removeprefix("#").strip()


def _heading(banner: Sequence[str]) -> str:
    """The words of a banner, without what frames them."""
    return next(filter(None, (line.strip("#=- \t") for line in banner)), "")
