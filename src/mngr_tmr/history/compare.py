"""Two runs side by side."""

import sqlite3
from typing import Literal

from msgspec import Struct

import mngr
from mngr_lib.suggest import did_you_mean
from mngr_tmr.history.clusters import Cluster, find_clusters
from mngr_tmr.history.schema import OUTCOMES

ChangeOfTest = Literal["broken", "fixed", "other", "added", "removed"]
_ORDER: tuple[ChangeOfTest, ...] = ("broken", "fixed", "other", "added", "removed")


class RunTotals(Struct, frozen=True):
    """One of the two."""

    run: str
    created_at: float
    base: str
    state: str
    exit_code: int | None
    tests: int
    failures: int
    seconds: float
    tokens: int
    usd: float | None
    agent_type: str
    model: str
    slots: int


class TestDifference(Struct, frozen=True):
    """A test whose last verdict is another one, empty where there was none; added and removed are in one run only."""

    __test__ = False
    test: str
    change: ChangeOfTest
    before: str
    after: str
    cause: str = ""


class Comparison(Struct, frozen=True):
    """The second run against the first. `causes` are those of both: new, recurring, or gone in the second."""

    first: RunTotals
    second: RunTotals
    same: int
    tests: tuple[TestDifference, ...]
    causes: tuple[Cluster, ...]
    schema: int = 1


def compare_runs(connection: sqlite3.Connection, first: str, second: str) -> Comparison:
    (one, before), (two, after) = _run(connection, first), _run(connection, second)
    rows = connection.execute(
        "SELECT tests.name, MAX(CASE WHEN run = ?1 THEN outcome END), MAX(CASE WHEN run = ?2 THEN outcome END), "
        "MAX(CASE WHEN run = ?2 THEN title END) "
        "FROM results JOIN tests ON tests.id = test LEFT JOIN causes ON causes.id = cause "
        "WHERE run IN (?1, ?2) GROUP BY test",
        (one, two),
    ).fetchall()
    different = [
        _difference(
            test, None if old is None else OUTCOMES[old], None if new is None else OUTCOMES[new], title
        )
        for test, old, new, title in rows
        if old != new
    ]
    runs = (one,) if one == two else (one, two)
    return Comparison(
        before,
        after,
        len(rows) - len(different),
        tuple(sorted(different, key=lambda each: (_ORDER.index(each.change), each.test))),
        find_clusters(connection, runs, two),
    )


def _difference(test: str, old: str | None, new: str | None, title: str | None) -> TestDifference:
    change: ChangeOfTest = "other"
    if old is None:
        change = "added"
    elif new is None:
        change = "removed"
    elif new == "passed":
        change = "fixed"
    elif old == "passed" and new not in ("", "skipped"):
        change = "broken"
    return TestDifference(test, change, old or "", new or "", title or "")


def _run(connection: sqlite3.Connection, name: str) -> tuple[int, RunTotals]:
    found = connection.execute(
        "SELECT id, problem, name, created_at, base, state, exit_code, collected, failures, took_ms / 1000.0, tokens, "
        "micros / 1e6, agent_type, model, slots FROM runs WHERE name = ?",
        (name,),
    ).fetchone()
    if found is None:
        names = [each for (each,) in connection.execute("SELECT name FROM runs ORDER BY created_at")]
        known = f"known: {', '.join(names[-5:])}" if names else "mngr tmr runs lists runs"
        raise mngr.NotFoundError(
            f'no run "{name}" that has ended', hint=did_you_mean(name, names, else_hint=known)
        )
    number, problem, *values = found
    if problem:
        raise mngr.MngrError(f'run "{name}" cannot be compared: {problem}', hint="mngr tmr runs lists runs")
    return number, RunTotals(*values)
