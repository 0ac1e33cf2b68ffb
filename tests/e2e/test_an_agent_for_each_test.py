"""An agent for each test: the plan, a run from end to end, and what is left to do with it."""

import json

import pytest
from tests.e2e.greeter import make_project
from tests.e2e.scene import agents, git, given

from mngr_e2e import E2eSession, expect

pytestmark = [pytest.mark.slow, pytest.mark.e2e(record=False, timeout_s=240)]


def test_the_plan_names_every_test_and_launches_nothing(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # an agent for each test: what would that be?
        mngr tmr plan tests
    """)
    make_project(e2e)
    result = e2e.run("mngr tmr plan tests")
    expect(result).to_succeed()
    for name in ("test_world", "test_somebody"):
        expect(result.stdout).to_contain(f"tests/test_greet.py::{name}")
    assert agents(e2e) == {}


def test_tests_that_are_not_committed_stop_the_plan(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # an agent for each test: what would that be?
        mngr tmr plan tests
    """)
    make_project(e2e)
    (e2e.cwd / "tests" / "test_more.py").write_text("def test_more(): pass\n")
    result = e2e.run("mngr tmr plan tests")
    expect(result).to_have_exit_code(6)
    expect(result.stderr).to_contain("tests/test_more.py")


@pytest.mark.accept("Z3")
def test_a_run_and_what_it_leaves(e2e: E2eSession) -> None:
    """One run is looked at in every way: a run takes seconds, and the three blocks tell one story."""
    e2e.write_tutorial_block("""
        # do it: each agent gets a copy, what it changes is verified, and the good changes come back as one branch
        mngr tmr run tests --name first --type scripted --arg playbook.json
    """)
    e2e.write_tutorial_block("""
        # how did it go? everything on one page
        mngr tmr status first
        mngr tmr report first --html report.html
    """)
    e2e.write_tutorial_block("""
        # which runs were there? verify one again, build its branch again, remove it
        mngr tmr runs
        mngr tmr verify first
        mngr tmr integrate first
        mngr tmr delete first --yes
    """)
    make_project(e2e)
    e2e.env["MNGR__TMR__VERIFY_RUNS"] = "1"
    head = git(e2e, "rev-parse", "HEAD")
    expect(e2e.run("mngr tmr run tests --name first --type scripted --arg playbook.json")).to_succeed()
    summary = json.loads((e2e.cwd / ".mngr/tmr/first/summary.json").read_text())
    assert {row["test"]: row["section"] for row in summary["rows"]} == {
        "tests/test_greet.py::test_somebody": "clean",
        "tests/test_greet.py::test_world": "clean",
    }
    assert git(e2e, "rev-parse", "HEAD") == head
    expect(e2e.run("mngr list --running --format '{name}'").stdout).to_be_empty()
    expect(e2e.run("mngr tmr status first")).to_succeed()
    expect(e2e.run("mngr tmr report first --html report.html")).to_succeed()
    expect(e2e.cwd / "report.html").to_contain("<html")
    expect(e2e.run("mngr tmr runs").stdout).to_contain("first")
    expect(e2e.run("mngr tmr verify first").stdout).to_match(r"passed.*test_world|test_world.*passed")
    expect(e2e.run("mngr tmr integrate first")).to_succeed()
    expect(e2e.run("mngr tmr delete first --yes")).to_succeed()
    expect(e2e.cwd / ".mngr/tmr/first").not_.to_exist()
    assert agents(e2e) == {}


def test_a_demo_takes_no_folder_that_is_not_its_own(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # see the whole loop once, with agents that follow a script: about a minute, and everything stays in mngr-demo
        mngr demo
    """)
    mine = e2e.cwd / "mngr-demo/pantry/diary.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("dear diary")
    result = e2e.run("mngr demo")
    expect(result).to_have_exit_code(6)
    expect(result.stderr).to_contain("hint: ")
    assert [path.name for path in mine.parent.iterdir()] == ["diary.txt"]


def test_a_fix_comes_back_as_one_commit(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # do it: each agent gets a copy, what it changes is verified, and the good changes come back as one branch
        mngr tmr run tests --name first --type scripted --arg playbook.json
    """)
    make_project(e2e)
    e2e.env["MNGR__TMR__VERIFY_RUNS"] = "1"
    given(e2e, "sed -i s/hello/hallo/ greet && git commit -qam 'a slip of the pen'")
    repair = [
        {"run": "mngr-result try 'as I found it'", "allow_fail": True},
        {"edit": "greet", "replace": ["hallo", "hello"]},
        {"run": "mngr-result try 'in English'"},
        {"commit": "Greet in English", "kind": "implementation"},
        {"run": "mngr-result write --outcome fixed --summary 'It greeted in another language.'"},
        {"exit": 0},
    ]
    (e2e.cwd / "playbook.json").write_text(json.dumps(repair))
    result = e2e.run("mngr tmr run tests --name first --type scripted --arg playbook.json")
    expect(result).to_have_exit_code(8)
    assert git(e2e, "log", "--format=%s", "main..tmr/first/integrated") == "Greet in English"
    assert git(e2e, "show", "tmr/first/integrated:greet") == (e2e.cwd / "greet").read_text().strip().replace(
        "hallo", "hello"
    )


def test_without_a_test_there_is_no_run(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # do it: each agent gets a copy, what it changes is verified, and the good changes come back as one branch
        mngr tmr run tests --name first --type scripted --arg playbook.json
    """)
    make_project(e2e)
    result = e2e.run("mngr tmr run tests --name first --type scripted --arg playbook.json -- -k nothing")
    expect(result).to_have_exit_code(1)
    expect(result.stderr).to_contain("no tests were collected")
    expect(e2e.cwd / ".mngr/tmr/first").not_.to_exist()


def test_a_run_that_is_not_there_is_named(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # how did it go? everything on one page
        mngr tmr status first
        mngr tmr report first --html report.html
    """)
    expect(e2e.run("mngr tmr status first")).to_have_exit_code(4)
    expect(e2e.run("mngr tmr report first --html report.html")).to_have_exit_code(4)
