"""The text of the pull request tells everything that a reviewer needs, from records."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.tmr.integrate.scene import Scene, Work

from mngr_tmr.integrate.publish.pull_request import pr_text, pr_title
from mngr_tmr.model.integration import FixWitness, Gate
from mngr_tmr.model.result import Blocked, Claim, Escalation, Result

APP = "".join(f"line {number}\n" for number in range(1, 31))


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, {"app.py": APP, "tests/test_a.py": "def test_a():\n    assert x == 1\n"})


def blocked(scene: Scene, test: str) -> None:
    record = scene.agent(test)
    result = Result(
        record.task.node_id,
        "blocked",
        False,
        None,
        "no",
        blocked=Blocked("environment", "no database", "a database"),
        escalations=(Escalation("fixture", "home leaks", "HOME is never put back"),),
    )
    scene.records[-1] = replace(record, claim=Claim(result), attempt=1)


@pytest.mark.accept("R13", "R8", "M16")
def test_it_holds_counts_ranking_reasons_blocked_escalations_and_links(scene: Scene) -> None:
    one = scene.agent(
        "test_a.py::test_a", Work("first", {"app.py": APP.replace("line 3\n", "3\n")}), importance=5
    )
    scene.records[0] = replace(one, attempt=2)
    scene.agent(
        "test_b.py::test_b", Work("rival", {"app.py": APP.replace("line 3\n", "III\n")}), importance=1
    )
    scene.agent("test_c.py::test_c", Work("easier", {"tests/test_a.py": "def test_a():\n    assert x\n"}))
    scene.agent("test_d.py::test_d", Work("bad", {"app.py": "\n"}), after="failed")
    blocked(scene, "test_e.py::test_e")
    blocked(scene, "test_f.py::test_f")
    done = scene.integrate()
    text = pr_text(scene.run, scene.records, done)
    assert pr_title(done) == "tmr: 1 fix and test and docs changes of 1 task"
    assert "6 tests, an agent for each" in text
    assert "of 6 tasks: 2 integrated, 4 not merged, 0 failed, 0 without a change" in text
    assert f"1. `first` (`{done.fixes[0].commit[:12]}`)" in text
    assert (
        "why this rank: `no test was seen to need it; 1 agent made it, its test failed before; importance 5 of 5"
        in text
    )
    assert f"`git revert {done.fixes[0].commit[:12]}`" in text
    assert f"[`{one.task.node_id}`](tasks/{one.task.slug}/attempt-2/)" in text
    assert "weakened in `tests/test_a.py::test_a`: `x == 1` → `x`" in text
    assert "- not merged: " in text
    assert "+++" not in text
    assert text.count("at `environment`: `no database`") == 2
    assert "it needs: `a database`" in text
    assert "- 2 times `home leaks` (`fixture`)" in text
    assert "it claims that its test passes; the check saw failed" in text
    assert "[report.html](report.html)" in text


@pytest.mark.accept("R13", "R10", "R16", "R19")
def test_witnesses_gates_and_reverts_are_told(scene: Scene) -> None:
    scene.agent(
        "test_a.py::test_a",
        Work("first", {"app.py": APP.replace("line 3\n", "3\n")}, change=1),
        Work("second", {"app.py": APP.replace("line 3\n", "drei\n")}, change=2),
    )
    done = scene.integrate()
    fixes = (
        replace(done.fixes[0], witness=FixWitness(False, True, None, True), needed_by=("t::x",)),
        done.fixes[1],
    )
    done = replace(done, fixes=fixes, gates=(Gate("lint", False, "exit code 1"),), notes=("a note",))
    text = pr_text(scene.run, scene.records, done)
    assert "old test: fails on old code, passes on new; new test: not run on old code, passes on new" in text
    assert "tests that fail without it: `t::x`" in text
    assert f"`git revert {fixes[1].commit[:12]} {fixes[0].commit[:12]}`" in text
    assert "- lint: failed: `exit code 1`" in text
    assert "- `a note`" in text


@pytest.mark.accept("R14", "R13")
def test_nothing_integrated_is_told_too(scene: Scene) -> None:
    scene.agent("test_a.py::test_a", before="passed")
    done = scene.integrate()
    assert pr_title(done) == "tmr: nothing to integrate"
    assert "of 1 task: 0 integrated, 0 not merged, 0 failed, 1 without a change" in pr_text(
        scene.run, scene.records, done
    )


@pytest.mark.accept("R13", "Q5")
def test_the_text_fits_a_forge_and_says_what_it_left_out(scene: Scene) -> None:
    for number in range(400):
        blocked(scene, f"test_{number}.py::test_{'long' * 20}_{number}")
    text = pr_text(scene.run, scene.records, scene.integrate())
    assert 20_000 < len(text) < 65_000
    assert "more, in the report" in text
    assert text.count("```") % 2 == 0
