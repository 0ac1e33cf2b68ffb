"""What an agent did to a tutorial: lines added under gaps, and nothing else, or findings that say what."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from mngr_e2e.authoring.drafting.blocks import decode
from mngr_e2e.authoring.rules import HUMAN, UNDER_GAP, RuleFinding
from mngr_e2e.tutorial.blocks import Block, is_draft_mark, read_blocks


class Comparison(Struct, frozen=True):
    """The lines added under each gap, by its id; or, when anything else changed, why none can be taken."""

    added: Mapping[str, tuple[str, ...]] = {}
    findings: tuple[RuleFinding, ...] = ()


def compare_tutorials(path: str, before: bytes, after: bytes, gaps: Sequence[Block]) -> Comparison:
    """Finds what was added after the last line of each gap; all other lines must be the same and in order."""
    old, new = _lines(before), _lines(after)
    parts = _additions(old, new, gaps)
    if parts is None:
        return Comparison(findings=tuple(_explain(path, decode(before), old, new, gaps)))
    added = {}
    for gap, part in zip(gaps, parts, strict=True):
        lines = [line.rstrip(b"\r").decode("utf-8", "surrogateescape") for line in part]
        while lines and not lines[-1].strip():
            lines.pop()
        # Marks are ours to set.
        added[gap.id] = tuple(line for line in lines if not is_draft_mark(line))
    return Comparison(added)


def _lines(data: bytes) -> list[bytes]:
    """Empty lines at the end say nothing: whether there are any is decided by the original."""
    lines = data.split(b"\n")
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def _additions(old: list[bytes], new: list[bytes], gaps: Sequence[Block]) -> list[list[bytes]] | None:
    ends = [gap.last_line for gap in gaps]
    kept = [old[start:end] for start, end in zip([0, *ends], [*ends, len(old)], strict=True)]
    found: list[list[bytes]] = []
    if new[: len(kept[0])] != kept[0]:
        return None
    at = len(kept[0])
    for part in kept[1:]:
        last = len(new) - len(part)
        # What follows the last gap must be the end of the file.
        places = range(at if part is not kept[-1] else max(at, last), last + 1)
        start = next((place for place in places if new[place : place + len(part)] == part), None)
        if start is None:
            return None
        found.append(new[at:start])
        at = start + len(part)
    return found if at == len(new) else None


def _explain(
    path: str, text: str, old: list[bytes], new: list[bytes], gaps: Sequence[Block]
) -> Iterator[RuleFinding]:
    blocks, ends = read_blocks(text), {gap.last_line for gap in gaps}
    found: dict[str, RuleFinding] = {}
    for what, first, end, new_first, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what in ("replace", "delete"):
            for block in blocks:
                if block.first_line - 1 < end and block.last_line > first:
                    problem = f"this block was changed, moved or removed: {block.title}; put it back exactly as it was"
                    found[block.id] = RuleFinding(HUMAN, f"{path}:{block.first_line}", problem)
        added = next((at for at in range(new_first, new_end) if new[at].strip()), None)
        if what == "insert" and added is not None and first not in ends:
            problem = "text was added here, which is under no gap that you were given"
            found[f"line {added}"] = RuleFinding(UNDER_GAP, f"{path}:{added + 1}", problem)
    moved = "lines that were there are not where they were; put the file back and only add"
    yield from found.values() or (RuleFinding(HUMAN, path, moved),)
