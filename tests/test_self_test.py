"""mngr is tested with itself: its tutorial is covered by its suite, and its pipeline mends a fault in its own code."""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cli.command import Mngr
from tests.support.world import LEAN, World

from mngr import process
from mngr.cli.commands import COMMANDS
from mngr.process import Completed, OnlyEnv
from mngr.registry import plugin_commands
from mngr_e2e.authoring.interface.programs import Programs
from mngr_e2e.authoring.interface.proofread import Proof, Proofreader
from mngr_e2e.tutorial.blocks import load_blocks, read_blocks
from mngr_e2e.tutorial.check import Report, check
from mngr_e2e.tutorial.lint import simple_commands
from mngr_e2e.tutorial.syntax import syntax_problem

ROOT = Path(__file__).parents[1]
_VERB = re.compile(r"\bmngr (?:-S \S+ )*([a-z0-9-]+)")
TUTORIAL = ROOT / "tutorial.sh"
SUITE = "tests/e2e/test_stopping_and_keeping.py"
FIXED, LOOKED_AT, UNTOUCHED = (
    "test_labels_are_put_on_and_taken_off",
    "test_a_name_that_is_taken_cannot_be_given",
    "test_another_name_for_the_same_agent",
)

FILE = "src/mngr/actions/label.py"
RIGHT, WRONG = "if key not in remove}", "if key not in remove[1:]}"
OTHER_FAULT = ("src/mngr/actions/rename.py", "done.code == Exit.TAKEN:", "done.code == Exit.TAKEN + 1:")
REPAIR: list[dict[str, Any]] = [
    {"run": "mngr-result check"},
    {"run": "mngr-result try 'as I found it'", "allow_fail": True},
    {"edit": FILE, "replace": [WRONG, RIGHT]},
    {"run": "mngr-result try 'take off the first one too'"},
    {"commit": "Take off the first label as well", "kind": "implementation"},
    {"run": "mngr-result write --outcome fixed --summary 'The first label that was to go stayed.'"},
    {"exit": 0},
]


@pytest.mark.accept("Z1", "T1", "Y5", "Y6", "Y14", "A9")
def test_every_block_of_our_tutorial_has_a_test_that_runs_it() -> None:
    report = _check()
    assert report.is_green, report
    assert (report.lint, report.duplicates) == ((), ())
    assert syntax_problem(TUTORIAL.read_text()) == ""
    assert len([block for block in report.blocks if block.kind == "command"]) >= 60
    assert report.gaps, "some gaps are left for agents to draft"
    assert not [gap for gap in report.gaps if gap.is_draft]
    sections = {block.section for block in report.blocks if block.kind == "command"}
    assert all(sections)


@pytest.mark.accept("Y5", "Y6", "Y7")
def test_one_character_more_in_our_tutorial_fails_the_check(tmp_path: Path) -> None:
    changed = tmp_path / "tutorial.sh"
    changed.write_text(
        TUTORIAL.read_text().replace("mngr create fix-login -- bash\n", "mngr create fix-login -- dash\n")
    )
    report = check(str(changed), [str(ROOT / "tests/e2e")])
    assert [block.title for block in report.uncovered] == ["mngr create fix-login -- dash"]
    assert {stale.nearest.title for stale in report.stale if stale.nearest} == {
        "mngr create fix-login -- dash"
    }


@pytest.mark.accept("Z1")
def test_every_verb_has_an_example() -> None:
    commands = (command for block in load_blocks(str(TUTORIAL)) for command in block.commands)
    shown = {verb for command in commands for verb in _VERB.findall(command)}
    assert {*COMMANDS, *plugin_commands()} - shown == set(), "tutorial.sh has no example of these"


@pytest.mark.accept("Z3", "A8")
def test_the_documented_commands_of_the_four_steps_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own proofreader, which drafts of agents go through, reads the page that says how it is done."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    page = (ROOT / "docs/self-test.md").read_text()
    blocks = [
        block for text in re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S) for block in read_blocks(text)
    ]
    proofreader = Proofreader(Programs(str(ROOT)), ["mngr"])
    assert [proof for block in blocks if (proof := proofreader.read(block, "self-test.md")) != Proof()] == []
    calls = [words for block in blocks for command in block.commands for words in simple_commands(command)]
    steps = [tuple(words[1:3]) for words in calls if words[0] == "mngr"]
    for step in (("tutorial", "draft"), ("tutorial", "sync"), ("tutorial", "check"), ("tmr", "report")):
        assert step in steps
    assert ["make", "self-test"] in calls
    assert "\nself-test: setup " in (ROOT / "Makefile").read_text()


class Clone:
    """A repository with this checkout's files, in a world of its own."""

    def __init__(self, world: World) -> None:
        self.repo = world.folder / "mngr"
        self.env = {name: value for name, value in Mngr(world).env.items() if name not in LEAN}
        listed = process.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=str(ROOT)).check("git")
        for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
            if (ROOT / name).is_file():
                (self.repo / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.repo / name, follow_symlinks=False)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.com")
        self.commit("mngr as it is")

    def spoil(self, file: str, right: str, wrong: str) -> str:
        """Puts a fault into a file; returns the file without it."""
        good = (self.repo / file).read_text()
        assert good.count(right) == 1
        (self.repo / file).write_text(good.replace(right, wrong))
        return good

    def commit(self, message: str) -> None:
        self.git("add", "--all")
        self.git("commit", "-q", "-m", message)

    def git(self, *words: str) -> str:
        return process.run(["git", *words], cwd=str(self.repo), env=OnlyEnv(self.env)).check("git").text

    def run(self, *argv: str) -> Completed:
        return process.run(argv, cwd=str(self.repo), env=OnlyEnv(self.env), timeout_s=1200)

    def sections(self, run: str) -> dict[str, str]:
        summary = msgspec.json.decode((self.repo / f".mngr/tmr/{run}/summary.json").read_bytes())
        return {row["test"].rpartition("::")[2]: row["section"] for row in summary["rows"]}


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Clone]:
    world = World(tmp_path)
    yield Clone(world)
    world.end()


@pytest.mark.slow
@pytest.mark.accept("Z1", "Z2", "Z3", "M14", "M15", "R3")
def test_a_fault_in_our_own_code_comes_back_as_one_fix(clone: Clone, tmp_path: Path) -> None:
    """The Python that runs this has mngr without the faults: only copies that use their own code can see them.

    Of two agents whose tests fail one fixes the code and the other only looks, as those of `make self-test` do.
    """
    good = clone.spoil(FILE, RIGHT, WRONG)
    clone.spoil(*OTHER_FAULT)
    clone.commit("actions: faster")
    plays = tmp_path / "plays"
    plays.mkdir()
    for name in (UNTOUCHED, LOOKED_AT):
        shutil.copy(ROOT / "tools/self-test.json", plays / f"{name}.json")
    (plays / f"{FIXED}.json").write_bytes(msgspec.json.encode(REPAIR))

    clone.run("mngr", "config", "trust").check("trust")
    borrowed = ("-S", "tmr.setup=:", "-S", f"tmr.pytest={sys.executable} -m pytest")
    refused = clone.run("mngr", *borrowed, "tmr", "plan", SUITE, "--no-own-venv")
    assert refused.code == 6, refused
    assert "wrong code under test" in refused.complaint

    clone.env |= {
        "PLAY": f"{plays}/{{test}}.json",
        "FLAGS": "--name own --integrator mechanical",
        "MNGR__TMR__VERIFY_RUNS": "1",
        "MNGR__TMR__SUITE": f"ls {FILE}",
    }
    done = clone.run("tools/self-test", SUITE, "--", "-k", f"{FIXED} or {LOOKED_AT} or {UNTOUCHED}")
    assert done.code == 8, done
    assert clone.sections("own") == {FIXED: "implementation", LOOKED_AT: "failing", UNTOUCHED: "clean"}
    log = clone.git("log", "--format=%s", "main..tmr/own/integrated").splitlines()
    assert log == ["Take off the first label as well"]
    assert clone.git("diff", "--name-only", "main", "tmr/own/integrated").split() == [FILE]
    assert clone.git("show", f"tmr/own/integrated:{FILE}") == good
    assert clone.git("status", "--porcelain") == ""


def _check() -> Report:
    return check(str(TUTORIAL), [str(ROOT / "tests/e2e")])
