"""Just enough shell to know where a command ends: quotes, continuations, heredocs, comments."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from msgspec import Struct

# What is open, innermost last: ' and " quotes, $ for $'..', ( for a list or $(..), a for arithmetic.
_CODE = re.compile(
    r"""
    \\(?:.|$) | \$' | \$?\(\( | \$?\( | \) | ['"] | <<<
    | <<(?P<tabs>-?)[ \t]*(?P<word>(?:\\.|'[^']*'|"[^"]*"|[^\s;|&<>()'"\\])+)
    | (?:(?<=[\s;|&()])|^)\#.*
    """,
    re.VERBOSE,
)
_TOKENS = {
    "": _CODE,
    "(": _CODE,
    "a": re.compile(r"""\\.|\$\((?!\()|[()]"""),
    "'": re.compile(r"'"),
    "$": re.compile(r"\\.|'"),
    '"': re.compile(r"""\\(?:.|$)|"|\$\(\(|\$\("""),
}
_CLOSES = {"'": "'", "$": "'", '"': '"', "(": ")", "a": ")"}
_OPENS = {"'": "'", "$'": "$", '"': '"', "(": "(", "$(": "(", "((": "aa", "$((": "aa"}
_OPEN_WORDS = {"'": "a quote", "$": "a quote", '"': "a quote", "(": "a parenthesis", "a": "a parenthesis"}


class Heredoc(Struct, frozen=True):
    """`<<WORD` or `<<-WORD`, the quotes of the word removed."""

    delimiter: str
    strips_tabs: bool


class Scan(Struct, frozen=True):
    """What one line leaves open."""

    open: str
    heredocs: tuple[Heredoc, ...]
    continues: bool
    comment_at: int | None = None


class Statement(Struct, frozen=True):
    """One command, comment line or empty line: lines[first:end]; `text` is the command on one line."""

    first: int
    end: int
    text: str
    problem: str = ""

    @property
    def is_comment(self) -> bool:
        return self.text.startswith("#")


def is_blank(line: str) -> bool:
    return not line.strip()


def statements(lines: Sequence[str]) -> Iterator[Statement]:
    """The lines as statements, in order and without gaps; an empty line is a statement without text."""
    ends = _HeredocEnds(lines)
    number = 0
    while number < len(lines):
        text = lines[number].strip()
        if not text or text.startswith("#"):
            found = Statement(number, number + 1, text)
        else:
            found = _command(lines, number, ends)
        yield found
        number = found.end


def scan_line(line: str, open: str = "") -> Scan:
    """Reads one line, given what was open before it."""
    heredocs, continues, at, comment_at = [], False, 0, None
    while match := _TOKENS[open[-1:]].search(line, at):
        token, at = match.group(), match.end()
        if token == "\\":
            continues = True
        elif token.startswith("<<") and match["word"]:
            heredocs.append(Heredoc(re.sub(r"""\\(.)|['"]""", r"\1", match["word"]), bool(match["tabs"])))
        elif token.startswith("#"):
            comment_at = match.start()
        elif token == _CLOSES.get(open[-1:]):
            open = open[:-1]
        elif open[-1:] == "a" and token == "(":
            open += "a"
        else:
            open += _OPENS.get(token, "")
    return Scan(open, tuple(heredocs), continues, comment_at)


def without_comments(text: str) -> str:
    """Lines of code without the comments at their ends."""
    lines, open = text.split("\n"), ""
    for number, line in enumerate(lines):
        scan = scan_line(line, open)
        open, lines[number] = scan.open, line[: scan.comment_at]
    return "\n".join(lines)


class _HeredocEnds:
    """Where a line of a given text comes next."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._plain: dict[str, list[int]] = {}
        self._tabbed: dict[str, list[int]] = {}
        for number, line in enumerate(lines):
            self._plain.setdefault(line, []).append(number)
            self._tabbed.setdefault(line.lstrip("\t"), []).append(number)

    def find(self, heredoc: Heredoc, start: int) -> int | None:
        places = (self._tabbed if heredoc.strips_tabs else self._plain).get(heredoc.delimiter, [])
        at = bisect_left(places, start)
        return places[at] if at < len(places) else None


def _command(lines: Sequence[str], first: int, ends: _HeredocEnds) -> Statement:
    """Joins lines until nothing is open. An empty line ends it in any case, unless it lies in a heredoc."""
    number, open, text, problem = first, "", "", ""
    while True:
        scan = scan_line(lines[number], open)
        open = scan.open
        if scan.continues:
            # Its backslash and its indentation are not part of the command.
            text += lines[number].strip()[:-1].rstrip() + " "
        else:
            text += lines[number] if open else lines[number].strip()
        number += 1
        for heredoc in scan.heredocs:
            end = ends.find(heredoc, number)
            if end is None:
                problem = problem or f'the heredoc "{heredoc.delimiter}" has no end'
                continue
            text += "".join(f"\n{line}" for line in lines[number : end + 1])
            number = end + 1
        if not (open or scan.continues) or number == len(lines) or is_blank(lines[number]):
            break
        text += "" if scan.continues else "\n"
    if open:
        problem = problem or f"{_OPEN_WORDS[open[-1]]} is still open where this block ends"
    return Statement(first, number, text.strip() or "\\", problem)
