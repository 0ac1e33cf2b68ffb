"""One run into the tables of the index, and out of them. Numbers are bounded here: agents have written some of them."""

import sqlite3
from collections.abc import Iterable

import msgspec

from mngr_lib.safe_text import storable
from mngr_tmr.history.estimates import judge_rows
from mngr_tmr.history.facts import RowFacts, RunFacts
from mngr_tmr.history.schema import OUTCOMES
from mngr_tmr.model.usage import NO_USAGE

_MOST = 1 << 50
_LONGEST = 1000


def store_run(connection: sqlite3.Connection, name: str, mark: str, facts: RunFacts) -> None:
    """Puts the facts of a run in the place of what was there."""
    drop_runs(connection, (name,))
    judged = judge_rows(facts.rows)
    run = connection.execute(
        "INSERT INTO runs VALUES (NULL, ?, ?, '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(name, mark, _seconds(facts.created_at), _text(facts.base), _text(facts.state)),
            None if facts.exit_code is None else _count(facts.exit_code),
            *(_count(facts.collected), _count(facts.failures), _count(facts.took_s * 1000)),
            *(_text(facts.agent_type), _text(facts.model), _count(facts.slots)),
            *(_count(facts.usage.tokens), _micros(facts.usage.cost_usd), sum(judged), len(judged)),
            msgspec.json.encode(facts.levels).decode(),
        ),
    ).lastrowid
    cause_of: dict[str, int] = {}
    for cause in facts.causes:
        words = (cause.key, _text(cause.stage), _text(cause.short_title))
        connection.execute("INSERT OR IGNORE INTO causes VALUES (NULL, ?, ?, ?)", words)
        (number,) = connection.execute("SELECT id FROM causes WHERE key = ?", (cause.key,)).fetchone()
        connection.execute(
            "INSERT INTO occurrences VALUES (?, ?, ?, ?) ON CONFLICT (run, cause) DO UPDATE SET "
            "tests = tests + excluded.tests, fixed = fixed + excluded.fixed",
            (run, number, len(cause.tests), len(cause.fixed)),
        )
        cause_of |= dict.fromkeys(map(_text, cause.tests), number)
    tests = [_text(row.test) for row in facts.rows]
    connection.executemany("INSERT OR IGNORE INTO tests VALUES (NULL, ?)", ((test,) for test in tests))
    connection.executemany(
        "INSERT OR IGNORE INTO results SELECT id, ?, ?, ?, ?, ?, ?, ?, ? FROM tests WHERE name = ?",
        (
            (run, *_numbers(row), cause_of.get(test), test)
            for row, test in zip(facts.rows, tests, strict=True)
        ),
    )


def store_problem(connection: sqlite3.Connection, name: str, mark: str, problem: str) -> None:
    """A run that cannot be read: it is not tried again until it changes."""
    drop_runs(connection, (name,))
    connection.execute(
        "INSERT INTO runs VALUES (NULL, ?, ?, ?, 0, '', '', NULL, 0, 0, 0, '', '', 0, 0, NULL, 0, 0, '[]')",
        (name, mark, _text(problem)),
    )


def drop_runs(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    for name in names:
        found = connection.execute("SELECT id FROM runs WHERE name = ?", (name,)).fetchone()
        for table, column in (("results", "run"), ("occurrences", "run"), ("runs", "id")) if found else ():
            connection.execute(f"DELETE FROM {table} WHERE {column} = ?", found)


def _numbers(row: RowFacts) -> tuple[int | None, ...]:
    usage = row.usage
    return (
        OUTCOMES.index(row.last) if row.last in OUTCOMES else 0,
        int(row.is_flaky),
        _count(row.attempt),
        _count(row.worked_s * 1000) or None,
        None if usage == NO_USAGE else _count(usage.tokens),
        _micros(usage.cost_usd),
    )


def _text(text: str) -> str:
    kept: str = storable(text[:_LONGEST])
    return kept


def _seconds(number: float) -> float:
    return float(min(max(number, 0), _MOST))


def _count(number: float) -> int:
    return int(_seconds(number))


def _micros(usd: float | None) -> int | None:
    return None if usd is None else _count(usd * 1e6)
