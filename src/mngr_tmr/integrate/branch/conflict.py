"""A change that does not merge, described so that a person or an agent can resolve it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from mngr_lib.safe_text import plain
from mngr_tmr.agent_text import one_line, shown
from mngr_tmr.git import Merge, Repository
from mngr_tmr.integrate.split.change import TaskChange

_MOST_HUNKS = 10
_HUNK_LIMIT = 2000
_MARK = 7


class Conflict(Struct, frozen=True):
    """`theirs`, a child of `before`, on top of `ours`. `resolution` is a tree, when one was found."""

    change: str
    tasks: tuple[str, ...]
    others: tuple[str, ...]
    files: tuple[str, ...]
    messages: tuple[str, ...]
    hunks: tuple[dict[str, str], ...]
    ours: str
    before: str
    theirs: str
    title: str = ""
    resolution: str = ""
    resolved_by: str = ""

    def as_record(self) -> dict[str, Any]:
        """As results store it, where the change is called "unit"."""
        record = asdict(self)
        return {"unit": record.pop("change"), **record}


Resolve = Callable[[Conflict], str | None]
"""Gives the tree that resolves a conflict, or None."""


def describe_conflict(
    repo: Repository, ours: str, change: TaskChange, merged: Merge, touched: Mapping[str, Sequence[str]]
) -> Conflict:
    """The conflict in words; `touched` tells which tasks changed a path so far."""
    files = tuple(dict.fromkeys(path for path, _, _ in merged.stages)) or change.paths
    others = dict.fromkeys(task for path in files for task in touched.get(path, ()))
    there = repo.entries(merged.tree, *files) if merged.stages else {}
    blobs = repo.blobs(entry.id for entry in there.values())
    return Conflict(
        change=change.id,
        tasks=change.tasks,
        others=tuple(task for task in others if task not in change.tasks),
        files=tuple(map(shown, files)),
        messages=tuple(one_line(message) for message in merged.messages),
        hunks=tuple(
            {"file": shown(path), "text": plain(region)[:_HUNK_LIMIT]}
            for path, entry in there.items()
            for region in marked_regions(blobs.get(entry.id, b"").decode(errors="replace"))
        )[:_MOST_HUNKS],
        ours=ours,
        before=change.before,
        theirs=change.after,
        title=one_line(change.title),
    )


def marked_regions(text: str) -> list[str]:
    """Everything between conflict markers."""
    found: list[str] = []
    region: list[str] | None = None
    for line in text.split("\n"):
        if line.startswith("<" * _MARK + " "):
            region = []
        if region is not None:
            region.append(line)
        if line.startswith(">" * _MARK + " ") and region is not None:
            found.append("\n".join(region))
            region = None
    return found
