"""What was found, in words and places for a person."""

from collections.abc import Iterator, Mapping, Sequence

from mngr_e2e.tutorial.blocks import Block
from mngr_e2e.tutorial.check import Link, Report
from mngr_lib.safe_text import one_line

_WIDTH = 100


def blocks(tutorial: str, found: Sequence[Block], links: Sequence[Link], statuses: Mapping[str, str]) -> str:
    """One line a block, under its section, and its tests below it."""
    lines: list[str] = []
    section = ""
    for block in found:
        if block.section != section:
            section = block.section
            lines += ["", f"[{one_line(section)}]"]
        more = f"-{block.last_line}" if block.last_line > block.first_line else ""
        lines.append(f"{block.id}  {block.kind:<8}  {_place(tutorial, block)}{more}  {_title(block)}")
        if block.problem:
            lines.append(f"    problem: {one_line(block.problem)}")
        for link in links:
            if link.block_id == block.id:
                lines.append(f"    {statuses.get(link.node_id, 'not run'):<8}  {one_line(link.node_id)}")
    return "\n".join(lines).lstrip("\n")


def gaps(tutorial: str, found: Sequence[Block]) -> str:
    return "\n".join(
        f"{_place(tutorial, block)}: {_title(block)}{' (draft, unreviewed)' if block.is_draft else ''}"
        for block in found
    )


def report(checked: Report, passed: bool) -> str:
    """Every finding with its place, then one line that sums up."""
    commands = [block for block in checked.blocks if block.kind == "command"]
    covered = len(commands) - len(checked.uncovered)
    parts = [f"{covered} of {len(commands)} command blocks cited by {checked.tests} tests"]
    for word, count in (
        ("stale citation", len(checked.stale)),
        ("unreadable place", len(checked.unreadable)),
        ("problem", len(checked.problems)),
        ("gap", len([gap for gap in checked.gaps if not gap.is_draft])),
        ("unreviewed draft", len([gap for gap in checked.gaps if gap.is_draft])),
        ("warning", len(checked.lint) + len(checked.duplicates) + len(checked.outdated)),
    ):
        parts += [f"{count} {word}{'' if count == 1 else 's'}"] if count else []
    return "\n".join([*_findings(checked), f"{'ok' if passed else 'FAILED'}: {', '.join(parts)}"])


def _findings(checked: Report) -> Iterator[str]:
    """Errors, then warnings."""
    for problem in checked.problems:
        yield f"{one_line(checked.tutorial)}: {one_line(problem)}"
    for one in checked.unreadable:
        yield f"{one_line(one.path)}:{one.line}: {one_line(one.problem)}"
    for block in checked.uncovered:
        yield f"{_place(checked.tutorial, block)}: no test cites this block ({block.id}): {_title(block)}"
    for stale in checked.stale:
        name = one_line(stale.node_id.rpartition("::")[2])
        yield f"{one_line(stale.path)}:{stale.line}: {name} cites what is no block of {one_line(checked.tutorial)}"
        if stale.nearest and stale.difference:
            different = stale.difference
            yield f"    nearest: {_place(checked.tutorial, stale.nearest)} ({stale.nearest.id}); line {different.line}:"
            yield f"    tutorial  {_line(different.tutorial)}"
            yield f"    citation  {_line(different.citation)}"
            yield f"              {' ' * len(one_line(different.tutorial[: different.column]))}^"
        else:
            yield f"    {_short(stale.text)}"
        if stale.advice:
            yield f"    hint: {stale.advice}"
    for same in checked.duplicates:
        places = ", ".join(map(str, same.first_lines))
        yield f"warning: {one_line(checked.tutorial)}: the same block at lines {places}: {_short(same.title)}"
    for old in checked.outdated:
        yield f"warning: {one_line(checked.tutorial)}:{old.first_line}: {one_line(old.problem)}"
    for finding in checked.lint:
        name = one_line(finding.node_id.rpartition("::")[2])
        yield f"warning: {one_line(finding.path)}:{finding.line}: {name} {_short(finding.problem)}"


def _place(tutorial: str, block: Block) -> str:
    return f"{one_line(tutorial)}:{block.first_line}"


def _title(block: Block) -> str:
    return _short(block.title)


def _short(text: str) -> str:
    line = one_line(text.split("\n")[0])
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def _line(text: str) -> str:
    """A line of a comparison, its trailing blanks made visible."""
    body = text.rstrip()
    return (one_line(body) + "·" * (len(text) - len(body))) or "(no such line)"
