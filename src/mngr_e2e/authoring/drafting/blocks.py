"""Drafts in a tutorial: put under their gaps, kept, edited, rejected. All of it on bytes that nothing else changes.

A draft is told by one comment line, so that it survives editing, copying and merging, and a reader sees it:

    # Managing snapshots              the gap, as a person wrote it
    # draft: unreviewed
    mngr snapshot create foo before   the draft

Above the mark is the person's, below it the agent's. A further example begins with the mark.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from mngr_e2e.tutorial.blocks import DRAFT_MARK, Block, is_draft_mark, read_blocks


class Draft(Struct, frozen=True):
    """A block that waits for a person. `text` is how it would stand when kept."""

    id: str
    section: str
    first_line: int
    last_line: int
    text: str
    block: Block


def decode(data: bytes) -> str:
    """As the checker reads a tutorial: what is not UTF-8 is shown as escapes; lines stay lines."""
    return data.decode("utf-8", errors="backslashreplace")


def readable(text: str) -> str:
    """The same for text that holds such bytes as surrogates, which no JSON can."""
    return decode(text.encode("utf-8", "surrogateescape"))


def read_drafts(data: bytes) -> tuple[Draft, ...]:
    return tuple(
        Draft(
            id=block.id,
            section=block.section,
            first_line=block.first_line,
            last_line=block.last_line,
            text="\n".join(line for line in block.lines if not is_draft_mark(line)),
            block=block,
        )
        for block in read_blocks(decode(data))
        if block.is_draft
    )


def fill_gaps(data: bytes, drafts: Mapping[str, Sequence[str]]) -> bytes:
    """The tutorial with lines under gaps, by gap id, each block of them marked. Of equal gaps the first is filled."""
    lines = data.split(b"\n")
    ending = b"\r" if lines[0].endswith(b"\r") else b""
    todo = dict(drafts)
    places = [(gap.last_line, todo.pop(gap.id)) for gap in read_blocks(decode(data)) if gap.id in todo]
    for at, text in reversed(places):
        added = [line.encode("utf-8", "surrogateescape") + ending for line in marked(text)]
        last = at == len(lines)
        if last and ending:
            lines[-1] += ending
            added[-1] = added[-1].removesuffix(ending)
        lines[at:at] = added
    return b"\n".join(lines)


def marked(lines: Sequence[str]) -> list[str]:
    """The blocks among these lines, each after a mark of its own, one empty line between them."""
    result: list[str] = []
    for block in read_blocks("\n".join(lines)):
        result += [*([""] if result else []), DRAFT_MARK, *block.lines]
    return result


def keep(data: bytes, draft: Draft) -> bytes:
    """The tutorial with this draft as a block like any other."""
    lines = data.split(b"\n")
    del lines[_mark_line(draft)]
    return b"\n".join(lines)


def reject(data: bytes, draft: Draft) -> bytes:
    """The tutorial as it was before this draft: the gap's own comment stays."""
    lines = data.split(b"\n")
    first = _mark_line(draft)
    if first == draft.first_line - 1 and first > 0 and not lines[first - 1].strip():
        first -= 1
    rest = lines[draft.last_line :]
    if not rest and not lines[-1].endswith(b"\r") and first and lines[first - 1].endswith(b"\r"):
        lines[first - 1] = lines[first - 1][:-1]
    return b"\n".join(lines[:first] + rest)


def replace_text(data: bytes, draft: Draft, text: str) -> bytes:
    """The tutorial with a person's text in place of the draft and its comment; no mark is left."""
    lines = data.split(b"\n")
    ending = b"\r" if lines[draft.first_line - 1].endswith(b"\r") else b""
    own = [line.rstrip("\r") for line in text.strip("\n").split("\n") if not is_draft_mark(line)]
    lines[draft.first_line - 1 : draft.last_line] = [
        line.encode("utf-8", "surrogateescape") + ending for line in own
    ]
    return b"\n".join(lines)


def _mark_line(draft: Draft) -> int:
    """Its index in the file."""
    return draft.first_line - 1 + next(at for at, line in enumerate(draft.block.lines) if is_draft_mark(line))
