"""The index of past runs is made from their folders, follows them, and is made again whenever it cannot be used."""

import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from tests.tmr.history.conftest import Past, cause, many, row
from tests.tmr.report.desk import T0, node

from mngr.testing.waiting import PATIENCE_S
from mngr_tmr.engine.journal import Journal
from mngr_tmr.history.facts import RunFacts, read_facts
from mngr_tmr.history.index import ask_index
from mngr_tmr.history.one_test import find_test_history
from mngr_tmr.history.overview import find_overview
from mngr_tmr.model.usage import AgentUsage
from mngr_tmr.run_folder.folder import RunFolder

pytestmark = pytest.mark.accept("O14")


def outcomes(past: Past, test: str = "a") -> dict[str, str]:
    found = past.ask(lambda index: find_test_history(index, node(test)))
    return {one.run: one.outcome for one in found.results}


def test_it_follows_the_folders(past: Past) -> None:
    """Runs that came, changed and went since; one that goes on is left out until it has ended."""
    past.run("r1", a="failed")
    going_on = past.run("r2", T0 + 1, a="passed")
    journal = Journal(going_on.journal)
    assert past.names == ["r1"]
    journal.close()
    assert past.names == ["r1", "r2"]
    past.run("r1", a="passed", b="passed")
    assert outcomes(past) == {"r2": "passed", "r1": "passed"}
    assert outcomes(past, "b") == {"r1": "passed"}
    (past.runs / "r1" / "run.json").unlink()
    assert past.names == ["r2"]
    assert past.lines == []


def test_a_run_that_has_not_changed_is_not_read_again(past: Past) -> None:
    past.run("r1", a="passed")
    reads = list[str]()

    def read(folder: RunFolder) -> RunFacts:
        reads.append(folder.path)
        return read_facts(folder)

    for _ in range(2):
        ask_index(str(past.runs), find_overview, read, past.lines.append)
    assert len(reads) == 1


@pytest.mark.parametrize("damage", ["text", "cut", "zeros", "foreign", "older", "link", "values"])
def test_an_index_that_cannot_be_used_is_made_again_with_one_line(past: Past, damage: str) -> None:
    for number in range(8):
        past.run(f"r{number}", T0 + number, tests=many("failed", 40))
    before = past.ask(find_overview)
    data = past.file.read_bytes()
    if damage == "link":
        target = past.runs / "precious"
        target.touch()
        past.file.unlink()
        past.file.symlink_to(target)
    elif damage in ("foreign", "older", "values"):
        with closing(sqlite3.connect(past.file, isolation_level=None)) as index:
            index.execute(
                {
                    "foreign": "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
                    "older": "PRAGMA user_version = 0",
                    "values": "UPDATE runs SET created_at = 'yesterday', levels = 'none'",
                }[damage]
            )
    else:
        past.replace(
            {"text": b"no index\n" * 900, "cut": data[:5000], "zeros": data[:4096] + bytes(len(data) - 4096)}[
                damage
            ]
        )
    assert past.ask(find_overview) == before
    (line,) = past.lines
    assert "it is made again" in line
    assert past.ask(find_overview) == before
    assert len(past.lines) == 1
    if damage == "link":
        assert target.read_bytes() == b"", "what the link led to is left alone"


@contextmanager
def no_room(size: int) -> Iterator[None]:
    """No file can grow past this size, as on a full disk."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_on_a_full_disk_a_run_ends_all_the_same_and_questions_are_answered(past: Past) -> None:
    past.run("r1", a="failed")
    past.add("r1")
    for number in range(2, 5):
        past.run(f"r{number}", T0 + number, tests=many("passed", 2000))
    with no_room(past.file.stat().st_size):
        past.add("r2")
        (line,) = past.lines
        assert "cannot be written" in line
        assert len(past.ask(lambda index: index.execute("SELECT * FROM runs").fetchall())) == 4
        assert len(past.lines) == 2
    assert past.names == ["r1", "r2", "r3", "r4"]
    assert len(past.lines) == 2, "the index is whole and goes on from where it was"


def test_where_nothing_may_be_written_questions_are_answered(past: Past) -> None:
    past.run("r1", a="failed")
    (past.runs / "history.lock").mkdir()
    assert outcomes(past) == {"r1": "failed"}
    assert "in memory" in past.lines[0]
    assert not past.file.exists()
    assert ask_index(str(past.runs / "none"), find_overview, read_facts, past.lines.append).runs == 0


_WRITER = """
import sys
from mngr_tmr.history.facts import read_facts
from mngr_tmr.history.index import add_to_index, ask_index
from mngr_tmr.history.overview import find_overview
sys.stdin.readline()
for name in sys.argv[2:]:
    add_to_index(sys.argv[1], name, read_facts, print)
print(ask_index(sys.argv[1], find_overview, read_facts, print).runs)
"""


def test_processes_that_write_at_once_leave_one_whole_index(past: Past) -> None:
    """They start together at a file that is damaged."""
    names = [
        past.run(f"r{number}", T0 + number, a="passed", b="failed").path.rpartition("/")[2]
        for number in range(12)
    ]
    past.replace(b"no index\n" * 900)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(past.runs), *names[number::4]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    said = [writer.communicate("go\n", timeout=PATIENCE_S)[0].splitlines() for writer in writers]
    assert [lines[-1] for lines in said] == ["12"] * 4
    assert sum(len(lines) - 1 for lines in said) == 1, "one of them made it again and said so"
    with closing(sqlite3.connect(past.file)) as index:
        assert index.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert index.execute("SELECT COUNT(*) FROM results").fetchone() == (24,)


def test_what_agents_wrote_does_not_harm_it(past: Past) -> None:
    """Numbers without bound, text that is no Unicode, a test that is there twice, a summary that is none."""
    huge = AgentUsage(input_tokens=10**30, cost_usd=1e300)
    rows = (
        row("a", "no such verdict", usage=huge, attempt=-3),
        row("a"),
        row("b\0" + "x" * 9000, worked_s=1e308),
    )
    past.write(
        RunFacts("odd", "", -1e300, "finished", 10**25, rows, (cause("\x1b[2J" * 900, "a", "a"),), 10**20)
    )
    past.write(RunFacts("good", "", T0, "finished", 1, (row("a"),)))
    (past.runs / "bad").mkdir()
    (past.runs / "bad" / "run.json").write_text("{}")
    (past.runs / "bad" / "summary.json").write_bytes(b'{"run":"\\ud800","rows":' + b"[" * 100_000)
    found = past.ask(find_overview)
    assert found.runs == 2
    assert [problem.partition(":")[0] for problem in found.problems] == ["bad"]
    assert outcomes(past) == {"good": "passed", "odd": ""}
    assert all(len(one.test) <= 1000 for one in found.tests)
    assert past.lines == []
