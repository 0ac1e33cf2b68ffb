"""The tables of the index. What they hold can be read from the runs' summaries again at any time."""

SCHEMA = (
    """CREATE TABLE runs (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, mark TEXT NOT NULL, problem TEXT NOT NULL,
    created_at REAL NOT NULL, base TEXT NOT NULL, state TEXT NOT NULL, exit_code INTEGER,
    collected INTEGER NOT NULL, failures INTEGER NOT NULL, took_ms INTEGER NOT NULL,
    agent_type TEXT NOT NULL, model TEXT NOT NULL, slots INTEGER NOT NULL,
    tokens INTEGER NOT NULL, micros INTEGER, inside INTEGER NOT NULL, estimated INTEGER NOT NULL, levels TEXT NOT NULL
)""",
    "CREATE TABLE tests (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    "CREATE TABLE causes (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, stage TEXT NOT NULL, title TEXT NOT NULL)",
    """CREATE TABLE results (
    test INTEGER NOT NULL, run INTEGER NOT NULL, outcome INTEGER NOT NULL, flaky INTEGER NOT NULL,
    attempts INTEGER NOT NULL, ms INTEGER, tokens INTEGER, micros INTEGER, cause INTEGER,
    PRIMARY KEY (test, run)
) WITHOUT ROWID""",
    "CREATE INDEX results_run ON results (run)",
    """CREATE TABLE occurrences (
    run INTEGER NOT NULL, cause INTEGER NOT NULL, tests INTEGER NOT NULL, fixed INTEGER NOT NULL,
    PRIMARY KEY (run, cause)
) WITHOUT ROWID""",
)
"""What `sqlite_master` says of an index of this version, statement by statement."""

VERSION = 1
"""Raised when the same tables get another meaning."""

OUTCOMES = (
    "",
    "passed",
    "failed",
    "error",
    "flaky",
    "skipped",
    "missing",
    "wrong_code",
    "cannot_tell",
)
"""A number in `results.outcome` is a place in here; the first is for a test that has no verdict."""

FAILED = tuple(OUTCOMES.index(word) for word in ("failed", "error", "missing", "wrong_code", "cannot_tell"))
PASSED, FLAKY, NO_VERDICT = OUTCOMES.index("passed"), OUTCOMES.index("flaky"), 0
