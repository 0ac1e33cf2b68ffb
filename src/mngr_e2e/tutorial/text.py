"""What was found, in words and places for a person."""

from collections.abc import Iterator, Mapping, Sequence

from mngr_e2e.tutorial.blocks import Block
from mngr_e2e.tutorial.check import Link, Report, Stale

_WIDTH = 100


def blocks(tutorial: str, found: Sequence[Block], links: Sequence[Link], statuses: Mapping[str, str]) -> str:
    """One line a block, under its section, and its tests below it."""
    lines: list[str] = []
    section = ""
    for block in found:
        if block.section != section:
            section = block.section
            lines += ["", f"[{visible(section)}]"]
        lines.append(f"{block.id}  {block.kind:<8}  {_range(tutorial, block)}  {_title(block)}")
        if block.problem:
            lines.append(f"    problem: {visible(block.problem)}")
        for link in links:
            if link.block_id == block.id:
                lines.append(f"    {statuses.get(link.node_id, 'not run'):<8}  {visible(link.node_id)}")
    return "\n".join(lines).lstrip("\n")


def gaps(tutorial: str, found: Sequence[Block]) -> str:
    return "\n".join(
        f"{_place(tutorial, block)}: {_title(block)}{' (draft, unreviewed)' if block.is_draft else ''}"
        for block in found
    )


def report(checked: Report, passed: bool) -> str:
    """Every finding with its place, then one line that sums up."""
    return "\n".join([*_errors(checked), *_warnings(checked), _summary(checked, passed)])


def visible(text: str) -> str:
    """One line that a terminal shows as it is."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _errors(checked: Report) -> Iterator[str]:
    for problem in checked.problems:
        yield f"{visible(checked.tutorial)}: {visible(problem)}"
    for one in checked.unreadable:
        yield f"{visible(one.path)}:{one.line}: {visible(one.problem)}"
    for block in checked.uncovered:
        yield f"{_place(checked.tutorial, block)}: no test cites this block ({block.id}): {_title(block)}"
    for stale in checked.stale:
        yield from _stale(checked, stale)


def _stale(checked: Report, stale: Stale) -> Iterator[str]:
    name = visible(stale.node_id.rpartition("::")[2])
    yield f"{visible(stale.path)}:{stale.line}: {name} cites what is no block of {visible(checked.tutorial)}"
    if stale.nearest and stale.difference:
        different = stale.difference
        yield f"    nearest: {_place(checked.tutorial, stale.nearest)} ({stale.nearest.id}); line {different.line}:"
        yield f"    tutorial  {_line(different.tutorial)}"
        yield f"    citation  {_line(different.citation)}"
        yield f"              {' ' * len(visible(different.tutorial[: different.column]))}^"
    else:
        yield f"    {_short(stale.text)}"
    if stale.advice:
        yield f"    hint: {stale.advice}"


def _warnings(checked: Report) -> Iterator[str]:
    for same in checked.duplicates:
        places = ", ".join(map(str, same.first_lines))
        yield f"warning: {visible(checked.tutorial)}: the same block at lines {places}: {_short(same.title)}"
    for finding in checked.lint:
        name = visible(finding.node_id.rpartition("::")[2])
        yield f"warning: {visible(finding.path)}:{finding.line}: {name} {_short(finding.problem)}"


def _summary(checked: Report, passed: bool) -> str:
    commands = [block for block in checked.blocks if block.kind == "command"]
    covered = len(commands) - len(checked.uncovered)
    parts = [f"{covered} of {len(commands)} command blocks cited by {checked.tests} tests"]
    parts += _counts(
        ("stale citation", len(checked.stale)),
        ("unreadable place", len(checked.unreadable)),
        ("problem", len(checked.problems)),
        ("gap", len([gap for gap in checked.gaps if not gap.is_draft])),
        ("unreviewed draft", len([gap for gap in checked.gaps if gap.is_draft])),
        ("warning", len(checked.lint) + len(checked.duplicates)),
    )
    return f"{'ok' if passed else 'FAILED'}: {', '.join(parts)}"


def _counts(*found: tuple[str, int]) -> list[str]:
    return [f"{count} {word}{'' if count == 1 else 's'}" for word, count in found if count]


def _place(tutorial: str, block: Block) -> str:
    return f"{visible(tutorial)}:{block.first_line}"


def _range(tutorial: str, block: Block) -> str:
    more = f"-{block.last_line}" if block.last_line > block.first_line else ""
    return _place(tutorial, block) + more


def _title(block: Block) -> str:
    return _short(block.title)


def _short(text: str) -> str:
    line = visible(text.split("\n")[0])
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def _line(text: str) -> str:
    """A line of a comparison, its trailing blanks made visible."""
    body = text.rstrip()
    return (visible(body) + "·" * (len(text) - len(body))) or "(no such line)"
