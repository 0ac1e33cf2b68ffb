"""Text that agents wrote, made safe for commit messages and Markdown."""

import os
import re

from mngr_lib import safe_text
from mngr_lib.safe_text import plain

_OUR_TRAILERS = re.compile(r"(tmr-|depends-on|signed-off-by|co-authored-by|skip-checks|reverts?\b)", re.I)
_CI_WORDS = re.compile(r"\[\s*((?:skip|no)\s+(?:ci|actions)|(?:ci|actions)\s+skip)\s*\]", re.I)
_ISSUE = re.compile(r"#(?=\d)|(?<![\w.])@(?=\w)")
_LONGEST_SUBJECT = 72
_LINE = 200


def shown(path: str) -> str:
    """A file name that prints on one line and can be stored, however it was made."""
    return safe_text.one_line(os.fsencode(path).decode(errors="backslashreplace"))


def one_line(text: str, limit: int = 300) -> str:
    line = " ".join(plain(text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def subject(text: str, otherwise: str) -> str:
    """The first line of a commit: short, no trailer, no word to a forge."""
    line = one_line(_harmless(text.strip().partition("\n")[0]), _LONGEST_SUBJECT) or otherwise
    return f'"{line}"' if _OUR_TRAILERS.match(line) else line


def quoted(text: str, limit: int = 4000) -> str:
    """A paragraph of an agent in a commit message; quoted, so that none of its lines is a trailer."""
    lines = _harmless(plain(text))[:limit].strip().split("\n")
    return "\n".join(f"> {line[:_LINE]}".rstrip() for line in lines) if lines != [""] else ""


def trailer(name: str, value: str) -> str:
    return f"{name}: {one_line(value)}"


def code(text: str, limit: int = 300) -> str:
    """A span of markdown that shows the text and nothing else."""
    line = one_line(text, limit) or "(empty)"
    fence = "`" * (_longest_run(line) + 1)
    pad = " " if line[:1] == "`" or line[-1:] == "`" else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def fenced(text: str, limit: int = 4000) -> str:
    """A block of markdown that shows the text and nothing else."""
    shown = plain(text)
    if len(shown) > limit:
        shown = shown[:limit] + f"\n… ({len(shown) - limit} more characters)"
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}text\n{shown.rstrip()}\n{fence}"


def _harmless(text: str) -> str:
    """Text that skips no CI, closes no issue and mentions no user: forges act on such words in commits."""
    return _ISSUE.sub(lambda found: found[0] + " ", _CI_WORDS.sub(r"(\1)", text))


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
