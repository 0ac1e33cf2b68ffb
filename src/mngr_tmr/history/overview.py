"""What all past runs say together: tests, causes, spend by day, throughput by slots, and how good estimates were."""

import sqlite3
import time

import msgspec
from msgspec import Struct

from mngr_tmr.history.clusters import Cluster, find_clusters
from mngr_tmr.history.schema import FAILED, FLAKY, NO_VERDICT, OUTCOMES, PASSED
from mngr_tmr.model.level import Level, add_levels, sweet_spot

_RECENT = 20


class DaySpend(Struct, frozen=True):
    """What the runs that began on a day used. `usd` is None where no price was known."""

    day: str
    runs: int
    tokens: int
    usd: float | None


class TestTrend(Struct, frozen=True):
    """One test over all runs; seconds, tokens and dollars are averages of the runs in which they are known."""

    __test__ = False
    test: str
    runs: int
    passed: int
    failed: int
    flaky: int
    without_verdict: int
    seconds: float | None
    tokens: float | None
    usd: float | None
    last: str


class Throughput(Struct, frozen=True):
    """What was done at each number of slots in use, by agents of one type and model; 0 if no best number is known."""

    agent_type: str
    model: str
    runs: int
    levels: tuple[Level, ...]
    sweet_spot: int = 0


class Overview(Struct, frozen=True):
    """Everything at once. Causes are those of the last 20 runs.

    `inside` of `estimated` tasks used no more than the upper end of their estimates.
    """

    runs: int
    first_at: float
    newest: str
    tests: tuple[TestTrend, ...]
    causes: tuple[Cluster, ...]
    days: tuple[DaySpend, ...]
    throughput: tuple[Throughput, ...]
    inside: int
    estimated: int
    problems: tuple[str, ...] = ()
    schema: int = 1


def find_overview(connection: sqlite3.Connection) -> Overview:
    ids, names, dates = [], [], []
    for run, name, at in connection.execute(
        "SELECT id, name, created_at FROM runs WHERE problem = '' ORDER BY created_at, name"
    ):
        ids.append(run)
        names.append(name)
        dates.append(at)
    inside, estimated = connection.execute("SELECT SUM(inside), SUM(estimated) FROM runs").fetchone()
    problems = connection.execute(
        "SELECT name, problem FROM runs WHERE problem != '' ORDER BY name"
    ).fetchall()
    return Overview(
        len(ids),
        dates[0] if dates else 0.0,
        names[-1] if names else "",
        _trends(connection),
        find_clusters(connection, ids[-_RECENT:], ids[-1]) if ids else (),
        _days(connection),
        _throughput(connection),
        inside or 0,
        estimated or 0,
        tuple(f"{name}: {problem}" for name, problem in problems),
    )


def _trends(connection: sqlite3.Connection) -> tuple[TestTrend, ...]:
    """Every test, those that fail or flicker most first. Of a run without a verdict the last one before it counts."""
    failed = ", ".join(map(str, FAILED))
    query = f"""
        SELECT name, COUNT(*), SUM(outcome = {PASSED}), SUM(outcome IN ({failed})),
            SUM(flaky OR outcome = {FLAKY}), SUM(outcome = {NO_VERDICT}),
            AVG(ms) / 1000.0, AVG(results.tokens), AVG(results.micros) / 1e6, test
        FROM results JOIN tests ON tests.id = test GROUP BY test"""
    latest = {
        test: OUTCOMES[outcome]
        for test, outcome in connection.execute(
            "SELECT test, outcome FROM results JOIN runs ON runs.id = run WHERE outcome != 0 "
            "AND run IN (SELECT id FROM runs ORDER BY created_at DESC LIMIT 50) ORDER BY created_at, run"
        )
    }
    trends = [
        TestTrend(*(*numbers, latest.get(test, "")))
        for *numbers, test in connection.execute(query).fetchall()
    ]
    return tuple(sorted(trends, key=lambda one: (-(one.failed + one.flaky) / one.runs, one.test)))


def _days(connection: sqlite3.Connection) -> tuple[DaySpend, ...]:
    """By the days of this machine's time zone, the newest first."""
    found: dict[str, DaySpend] = {}
    for at, tokens, micros in connection.execute(
        "SELECT created_at, tokens, micros FROM runs WHERE problem = ''"
    ):
        day = day_of(at)
        old = found.get(day, DaySpend(day, 0, 0, None))
        usd = old.usd if micros is None else (old.usd or 0.0) + micros / 1e6
        found[day] = DaySpend(day, old.runs + 1, old.tokens + tokens, usd)
    return tuple(found[day] for day in sorted(found, reverse=True))


def day_of(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(min(at, 2**40)))


def _throughput(connection: sqlite3.Connection) -> tuple[Throughput, ...]:
    found: dict[tuple[str, str], list[tuple[Level, ...]]] = {}
    for agent_type, model, levels in connection.execute(
        "SELECT agent_type, model, levels FROM runs WHERE levels NOT IN ('', '[]') ORDER BY id"
    ):
        found.setdefault((agent_type, model), []).append(msgspec.json.decode(levels, type=tuple[Level, ...]))
    together = {key: (len(runs), add_levels(runs)) for key, runs in found.items()}
    return tuple(
        Throughput(*key, runs, levels, best.slots if (best := sweet_spot(levels)) else 0)
        for key, (runs, levels) in together.items()
    )
