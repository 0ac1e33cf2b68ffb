"""Similar edits in many places: most likely one shared problem, fixed many times."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from mngr_lib.safe_text import plain
from mngr_tmr.agent_text import one_line, shown
from mngr_tmr.integrate.split.change import TaskChange

_LEAST = 3
_ALIKE = 0.8
_LITERAL = re.compile(r"""("[^"\n]*"|'[^'\n]*'|\b\d[\d_.]*\b)""")
_WORD = re.compile(r"\w+|[^\w\s]")
_IMPORT = re.compile(r"[-+]\s*(import|from)\s")


class NormalizedEdit(Struct, frozen=True):
    """A hunk without its literals and its indentation."""

    task: str
    path: str
    words: frozenset[str]
    lines: frozenset[str]
    text: str


def shared_problems(changes: Sequence[TaskChange]) -> tuple[dict[str, Any], ...]:
    """Groups of similar edits in three or more files, each with counts and an example, the largest first."""
    found = []
    for cluster in _clusters(edit for change in changes for edit in _edits(change)):
        tasks, files = (sorted({getattr(edit, name) for edit in cluster}) for name in ("task", "path"))
        if len(files) < _LEAST:
            continue
        example = cluster[0].text
        problem: dict[str, Any] = {
            "title": one_line(example.strip().split("\n")[0], 120),
            "count": len(cluster),
            "tasks": tasks,
            "files": [shown(path) for path in files],
            "example": example,
        }
        found.append(problem)
    return tuple(sorted(found, key=lambda problem: (-problem["count"], problem["title"])))


def _edits(change: TaskChange) -> Iterator[NormalizedEdit]:
    for file in change.files:
        for hunk in file.hunks or ():
            removed, added = (
                [" ".join(_LITERAL.sub("_", line.decode(errors="replace")).split()) for line in side]
                for side in (hunk.removed, hunk.added)
            )
            lines = frozenset(
                [f"-{line}" for line in removed if line] + [f"+{line}" for line in added if line]
            )
            words = frozenset(word for line in lines for word in _WORD.findall(line))
            diff = [*(b"-" + line for line in hunk.removed), *(b"+" + line for line in hunk.added)]
            text = plain(b"\n".join(diff).decode(errors="replace"))[:1000]
            is_import = all(_IMPORT.match(line.decode(errors="replace")) for line in diff if line[1:].strip())
            if len(words) >= _LEAST and not is_import and (removed or len(added) < 20):
                yield NormalizedEdit(change.tasks[0], file.path, words, lines, text)


def _clusters(edits: Iterable[NormalizedEdit]) -> list[list[NormalizedEdit]]:
    """Groups edits by the first edit that they resemble; only groups with a line in common are compared."""
    groups: list[list[NormalizedEdit]] = []
    by_line: dict[str, list[int]] = {}
    for edit in edits:
        near = dict.fromkeys(number for line in sorted(edit.lines) for number in by_line.get(line, ()))
        for number in near:
            first = groups[number][0].words
            if len(first & edit.words) >= _ALIKE * len(first | edit.words):
                groups[number].append(edit)
                break
        else:
            for line in edit.lines:
                by_line.setdefault(line, []).append(len(groups))
            groups.append([edit])
    return groups
