"""How the tests ended when they last ran, from the artifacts of the pytest plugin."""

import os
from collections.abc import Iterable, Mapping
from glob import escape, glob

import msgspec
from msgspec import Struct

_MILD = ("running", "skipped", "passed")
_PATTERN = os.path.join("*", "*", "attempt-*", "meta.json")


class StatusMeta(Struct, frozen=True):
    """The part of an artifact's `meta.json` that is read here."""

    node_id: str
    status: str


def last_statuses(*artifacts_dirs: str) -> dict[str, str]:
    """The newest status by node id in folders of runs; empty without artifacts. What cannot be read is passed over."""
    newest: dict[str, tuple[float, str]] = {}
    for path in (path for folder in artifacts_dirs for path in glob(os.path.join(escape(folder), _PATTERN))):
        try:
            with open(path, "rb") as file:
                meta = msgspec.json.decode(file.read(), type=StatusMeta)
            when = os.stat(path).st_mtime
        except (OSError, msgspec.DecodeError):
            continue
        if when >= newest.get(meta.node_id, (0.0, ""))[0]:
            newest[meta.node_id] = (when, meta.status)
    return {node_id: status for node_id, (_, status) in newest.items()}


def statuses_of(node_ids: Iterable[str], last: Mapping[str, str]) -> dict[str, str]:
    """The last status of each test that has one. Of a parametrised test the worst counts.

    Node ids are relative to where pytest was started, so one path may be the tail of the other.
    """
    by_tail: dict[str, list[tuple[str, str]]] = {}
    for node_id, status in last.items():
        path, _, function = node_id.partition("[")[0].partition("::")
        by_tail.setdefault(f"{os.path.basename(path)}::{function}", []).append((path, status))
    found = {}
    for node_id in node_ids:
        path, _, function = node_id.partition("::")
        known = by_tail.get(f"{os.path.basename(path)}::{function}", [])
        statuses = [status for other, status in known if is_same_file(path, other)]
        if statuses:
            found[node_id] = min(statuses, key=lambda status: _MILD.index(status) if status in _MILD else -1)
    return found


def is_same_file(one: str, other: str) -> bool:
    """Whether two paths may mean one file, each counted from its own root."""
    one, other = (f"/{os.path.normpath(path)}" for path in (one, other))
    return one.endswith(other) or other.endswith(one)
