"""One test over all runs."""

import sqlite3
from collections.abc import Sequence

from msgspec import Struct

import mngr
from mngr_lib.suggest import did_you_mean
from mngr_tmr.history.schema import OUTCOMES
from mngr_tmr.model.estimate import Range, quantile

_SHOWN = 5


class PastResult(Struct, frozen=True):
    """A test in a run; a number that is not known is None."""

    run: str
    created_at: float
    outcome: str
    is_flaky: bool
    attempts: int
    seconds: float | None
    tokens: int | None
    usd: float | None
    cause: str = ""
    cause_key: str = ""


class TestHistory(Struct, frozen=True):
    """The newest run first. The ranges go from the median to the 95th percentile of the runs that are known."""

    __test__ = False
    test: str
    results: tuple[PastResult, ...]
    seconds: Range | None
    tokens: Range | None
    usd: Range | None
    schema: int = 1


def find_test_history(connection: sqlite3.Connection, name: str) -> TestHistory:
    test, name = _find_test(connection, name)
    rows = connection.execute(
        "SELECT runs.name, created_at, outcome, flaky, attempts, ms, results.tokens, results.micros, title, key "
        "FROM results JOIN runs ON runs.id = run LEFT JOIN causes ON causes.id = cause "
        "WHERE test = ? ORDER BY created_at DESC, runs.name DESC",
        (test,),
    )
    results = tuple(
        PastResult(
            run,
            at,
            OUTCOMES[outcome],
            bool(flaky),
            attempts,
            None if ms is None else ms / 1000,
            tokens,
            None if micros is None else micros / 1e6,
            title or "",
            key or "",
        )
        for run, at, outcome, flaky, attempts, ms, tokens, micros, title, key in rows
    )
    return TestHistory(
        name,
        results,
        _range([one.seconds for one in results if one.seconds is not None]),
        _range([one.tokens for one in results if one.tokens is not None]),
        _range([one.usd for one in results if one.usd is not None]),
    )


def _find_test(connection: sqlite3.Connection, name: str) -> tuple[int, str]:
    """A test by its node id or a part of it that no other test has."""
    tests = dict(
        connection.execute("SELECT name, id FROM tests WHERE id IN (SELECT test FROM results)").fetchall()
    )
    if name in tests:
        return tests[name], name
    alike = sorted(test for test in tests if name in test)
    ends = [test for test in alike if test.endswith((f"::{name}", f"/{name}"))]
    if len(ends or alike) == 1:
        (found,) = ends or alike
        return tests[found], found
    if alike:
        more = f" and {len(alike) - _SHOWN} more" if len(alike) > _SHOWN else ""
        raise mngr.UsageError(
            f'{len(alike)} tests have "{name}" in their names', hint=f"{', '.join(alike[:_SHOWN])}{more}"
        )
    raise mngr.NotFoundError(
        f'no past run has a test "{name}"', hint=did_you_mean(name, tests, else_hint="see: mngr tmr history")
    )


def _range(values: Sequence[float]) -> Range | None:
    ordered = sorted(values)
    return Range(quantile(ordered, 0.5), quantile(ordered, 0.95)) if ordered else None
