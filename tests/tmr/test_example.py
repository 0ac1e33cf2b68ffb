"""The bundled example from end to end: faults of every kind, and each ends where the documents say."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cli.command import Done, Mngr
from tests.support.world import World
from tests.tmr.recount import Recount, check_counts, check_fixes, check_page, check_pr, check_table

from mngr import process
from mngr.process import OnlyEnv
from mngr.testing.waiting import PATIENCE_S
from mngr_tmr.example.make import Example, make_example
from mngr_tmr.report.out.page.source import TmrSource
from mngr_tmr.run_folder.folder import RunFolder

pytestmark = pytest.mark.slow

# One agent hangs; the others print nothing while their pytest runs, which takes long on a busy machine.
_SETTINGS = ("-S", "tmr.silence=60s", "-S", "tmr.grace=2s", "-S", "tmr.verify_runs=1")


class Loop:
    """The example's repository and the whole pipeline on it, as a user starts it."""

    def __init__(self, folder: Path) -> None:
        self.world = World(folder)
        self.example: Example = make_example(str(folder / "pantry"))
        self.plays = folder / "plays"
        shutil.copytree(self.example.plays, self.plays)
        self.env = Mngr(self.world).env

    def run(self, *words: str, settings: tuple[str, ...] = (), pytest_flags: tuple[str, ...] = ()) -> Done:
        return self.mngr(
            *_SETTINGS,
            *settings,
            *("tmr", "run", "tests", "--name", "r1", "--type", "scripted", "--slots", "4"),
            *("--arg", f"{self.plays}/{{test}}.json", *words, "--", *pytest_flags),
        )

    def mngr(self, *words: str) -> Done:
        ran = process.run(
            [sys.executable, "-m", "mngr", *words],
            timeout_s=3 * PATIENCE_S,
            env=OnlyEnv(self.env),
            cwd=self.example.repo,
        )
        return Done(ran.code, ran.stdout.decode(errors="replace"), ran.stderr.decode(errors="replace"))

    def git(self, *words: str) -> str:
        return process.run(["git", *words], cwd=self.example.repo).check("git").text

    def summary(self) -> Any:
        return msgspec.json.decode(Path(self.example.repo, ".mngr/tmr/r1/summary.json").read_bytes())

    def sections(self) -> dict[str, str]:
        """Where each test ended, by its name."""
        return {row["test"].rpartition("::")[2]: row["section"] for row in self.summary()["rows"]}


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Loop]:
    made = Loop(tmp_path)
    yield made
    made.world.end()


EXPECTED = {
    "test_add_keeps_the_amount": "implementation",
    "test_take_leaves_the_rest": "implementation",
    "test_take_more_than_there_is_fails": "implementation",
    "test_list_shows_everything": "other",
    "test_help_succeeds": "other",
    "test_an_unknown_verb_fails": "added",
    "test_sync_reaches_the_server": "blocked",
    "test_list_for_a_program": "disputed",
    "test_export_writes_a_file": "infrastructure",
    "test_import_reads_it_back": "infrastructure",
    "test_rename_keeps_the_amount": "set_aside",
    "test_version_is_told": "clean",
    "test_browse_moves_and_leaves": "clean",
    "test_rename_refuses_a_name_that_is_taken": "clean",
}


@pytest.mark.accept(
    "Z4", "R2", "R3", "R4", "R5", "R7", "R8", "R9", "R10", "R15", "J2", "J6", "L4", "P9", "M20"
)
def test_every_fault_ends_where_it_should(loop: Loop) -> None:
    """In mirrors; tests/tmr/test_demo.py has the same in worktrees."""
    head = loop.git("rev-parse", "HEAD")
    done = loop.run("--transfer", "mirror", "--integrator", "mechanical")
    assert done.code == 3, done
    sections = loop.sections()
    totals = {sections.pop("test_total_adds_up"), sections.pop("test_total_in_euro")}
    assert sections == EXPECTED
    assert totals == {"implementation", "set_aside"}, "of two fixes that exclude each other one is taken"

    assert loop.git("rev-parse", "HEAD") == head
    assert loop.git("status", "--porcelain") == ""
    log = loop.git("log", "--reverse", "--format=%s", "main..tmr/r1/integrated").splitlines()
    assert log[0].startswith("tests, docs")
    assert log[1:3] == ["Take from the shelf, not from the wish", "Store the amount that was asked for"]
    assert len(log) == 4
    assert loop.git("rev-list", "--merges", "main..tmr/r1/integrated") == ""
    credit = loop.git("log", "-1", "--format=%(trailers:key=Tmr-Task,valueonly)", "tmr/r1/integrated~2")
    assert len(credit.split("\n\n")[0].strip().splitlines()) == 2
    rows = loop.summary()["rows"]
    assert loop.summary()["collected"] == 15 == len([row for row in rows if row["section"] != "added"])
    assert loop.mngr("list", "--running", "--format", "{name}").stdout == ""
    check_every_number(loop)


def check_every_number(loop: Loop) -> None:
    """Each number of page, summary.json, junit.xml and pr.md, recomputed at base, agents' commits and tip."""
    scratch = loop.world.folder / "scratch"
    scratch.mkdir()
    seen = Recount(loop.example.repo, "r1", scratch, loop.env)
    check_table(seen)
    check_counts(seen)
    check_fixes(seen)
    check_pr(seen)
    (run,) = TmrSource(RunFolder(str(seen.folder))).index().runs
    check_page(seen, msgspec.json.decode(msgspec.json.encode(run)))


@pytest.mark.accept("Z4", "M15")
def test_when_another_agent_lies_its_row_says_so(loop: Loop) -> None:
    """The run knows agents only by pytest and git: with two playbooks' habits swapped, so are the two rows."""
    add, listing = (
        loop.plays / f"test_{name}.json" for name in ("add_keeps_the_amount", "list_for_a_program")
    )
    honest, liar = (msgspec.json.decode(path.read_bytes()) for path in (add, listing))
    honest[3] = {
        "edit": "pantry/__main__.py",
        "replace": ["        print(found)\n", "        import json\n\n        print(json.dumps(found))\n"],
    }
    liar[2] = {"edit": "pantry/shelf.py", "append": "# amounts are kept\n"}
    add.write_bytes(msgspec.json.encode(liar))
    listing.write_bytes(msgspec.json.encode(honest))
    done = loop.run("--integrator", "mechanical", pytest_flags=("-k", "add_keeps or for_a_program"))
    assert done.code == 8, done
    assert loop.sections() == {
        "test_add_keeps_the_amount": "disputed",
        "test_list_for_a_program": "implementation",
    }


@pytest.mark.accept("R1", "R5", "R10", "R11")
def test_an_agent_settles_what_the_program_cannot_and_is_needed_once(loop: Loop) -> None:
    settle = ("-S", f"tmr.integrator_args={loop.plays}/settle.json", "-S", "tmr.integrator_type=scripted")
    done = loop.run("--integrator", "auto", settings=settle, pytest_flags=("-k", "total"))
    assert done.code == 8, done
    assert loop.sections() == {"test_total_adds_up": "implementation", "test_total_in_euro": "implementation"}
    tip = loop.git("rev-parse", "tmr/r1/integrated")
    assert 'f"{worth * RATES[currency]:.2f}"' in loop.git("show", "tmr/r1/integrated:pantry/money.py")
    (loop.plays / "settle.json").unlink()
    again = loop.mngr("tmr", "integrate", "r1")
    assert again.code == 8, again
    assert loop.git("rev-parse", "tmr/r1/integrated") == tip
    assert loop.mngr("list", "--running", "--format", "{name}").stdout == ""


@pytest.mark.accept("R1", "R4", "R8", "Z3")
def test_one_agent_can_build_the_whole_branch(loop: Loop) -> None:
    plays = ("-S", f"tmr.integrator_args={loop.plays}/integrate.json", "-S", "tmr.integrator_type=scripted")
    done = loop.run(
        "--integrator",
        "agent",
        settings=plays,
        pytest_flags=("-k", "add_keeps or help_succeeds or unknown_verb or total_adds"),
    )
    assert done.code == 8, done
    log = loop.git("log", "--reverse", "--format=%s", "main..tmr/r1/integrated").splitlines()
    assert len(log) == 3
    assert log[0] == "tests, docs: what 1 task changed"
    assert loop.git("rev-list", "--merges", "main..tmr/r1/integrated") == ""
    sections = loop.sections()
    assert sections.pop("test_an_unknown_verb_fails") == "added"
    assert sections == {
        "test_add_keeps_the_amount": "implementation",
        "test_total_adds_up": "implementation",
        "test_help_succeeds": "other",
    }
    assert loop.mngr("list", "--running", "--format", "{name}").stdout == ""
