"""Causes of failures over runs: which are new, which come again, which are gone. Pure but for the index."""

import sqlite3
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

ClusterState = Literal["new", "recurring", "gone", "not_run"]


class Cluster(Struct, frozen=True):
    """One cause. `tests` is how many had it in its last run, and `fixed` how many of these the branch fixed.

    It is gone when a newer run has a verdict for a test that had it; where no such test was run, that is all that is
    known.
    """

    key: str
    state: ClusterState
    stage: str
    title: str
    runs: int
    first_run: str
    last_run: str
    tests: int
    fixed: int


def find_clusters(connection: sqlite3.Connection, runs: Sequence[int], newest: int) -> tuple[Cluster, ...]:
    """The causes that occur in these runs, given from the oldest to the newest, as they stand in the newest."""
    names: dict[int, str] = dict(connection.execute("SELECT id, name FROM runs").fetchall())
    place = {run: number for number, run in enumerate(runs)}
    seen: dict[int, list[tuple[int, int, int]]] = {}
    for run, cause, tests, fixed in connection.execute("SELECT run, cause, tests, fixed FROM occurrences"):
        if run in place:
            seen.setdefault(cause, []).append((run, tests, fixed))
    found = []
    for cause, key, stage, title in connection.execute("SELECT id, key, stage, title FROM causes").fetchall():
        if cause not in seen:
            continue
        times = sorted(seen[cause], key=lambda one: place[one[0]])
        last, tests, fixed = times[-1]
        state: ClusterState = "recurring" if len(times) > 1 else "new"
        if last != newest:
            state = "gone" if _is_tested(connection, cause, last, newest) else "not_run"
        found.append(
            Cluster(key, state, stage, title, len(times), names[times[0][0]], names[last], tests, fixed)
        )
    order: tuple[ClusterState, ...] = ("new", "recurring", "gone", "not_run")
    return tuple(sorted(found, key=lambda one: (order.index(one.state), -one.tests, one.title)))


def _is_tested(connection: sqlite3.Connection, cause: int, last: int, newest: int) -> bool:
    """Whether the newest run has a verdict for a test that had this cause in an earlier one."""
    query = (
        "SELECT EXISTS (SELECT 1 FROM results old JOIN results new ON new.test = old.test "
        "WHERE old.run = ? AND old.cause = ? AND new.run = ? AND new.outcome != 0)"
    )
    (is_tested,) = connection.execute(query, (last, cause, newest)).fetchone()
    return bool(is_tested)
