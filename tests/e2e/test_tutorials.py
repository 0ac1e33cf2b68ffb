"""A tutorial and its tests: blocks, gaps, the check, drafts and what agents find hard."""

import json

import pytest
from tests.e2e.greeter import make_project
from tests.e2e.scene import agents, given

from mngr_e2e import E2eSession, expect

pytestmark = [pytest.mark.slow, pytest.mark.e2e(record=False)]


def test_blocks_and_gaps_are_listed(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a tutorial is a script like this one; what is in it, and what is still a gap?
        mngr tutorial blocks tutorial.sh
        mngr tutorial gaps tutorial.sh --fail
    """)
    make_project(e2e)
    blocks = e2e.run("mngr tutorial blocks tutorial.sh").stdout
    expect(blocks).to_match(r"^b[0-9a-f]{10} +command +tutorial\.sh:8-9 +\./greet Ada$")
    gaps = e2e.run("mngr tutorial gaps tutorial.sh --fail")
    expect(gaps).to_have_exit_code(1)
    expect(gaps.stdout).to_equal("tutorial.sh:11: Greeting several people at once\n")


def test_a_tutorial_that_is_not_there_is_named(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a tutorial is a script like this one; what is in it, and what is still a gap?
        mngr tutorial blocks tutorial.sh
        mngr tutorial gaps tutorial.sh --fail
    """)
    result = e2e.run("mngr tutorial blocks tutorial.sh")
    expect(result).to_have_exit_code(2)
    expect(result.stderr).to_contain("tutorial.sh")


def test_the_check_passes_when_every_block_has_its_test(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # does every example have a test, and does every test cite an example?
        mngr tutorial check tutorial.sh tests
    """)
    make_project(e2e)
    result = e2e.run("mngr tutorial check tutorial.sh tests")
    expect(result).to_succeed()
    expect(result.stdout).to_contain("ok: 2 of 2 command blocks cited by 2 tests")


def test_one_changed_character_fails_the_check(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # does every example have a test, and does every test cite an example?
        mngr tutorial check tutorial.sh tests
    """)
    make_project(e2e)
    tutorial = e2e.cwd / "tutorial.sh"
    tutorial.write_text(tutorial.read_text().replace("./greet Ada", "./greet Ida"))
    result = e2e.run("mngr tutorial check tutorial.sh tests")
    expect(result).to_have_exit_code(1)
    expect(result.stdout).to_contain("test_somebody cites what is no block")
    expect(result.stdout).to_contain("no test cites this block")


def test_each_block_leads_to_its_tests(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # which tests does each example have?
        mngr tutorial blocks tutorial.sh tests --tests
    """)
    make_project(e2e)
    given(e2e, "pytest -q tests -k world")
    result = e2e.run("mngr tutorial blocks tutorial.sh tests --tests").stdout
    expect(result).to_match(r"^ +passed +tests/test_greet\.py::test_world$")
    expect(result).to_match(r"^ +not run +tests/test_greet\.py::test_somebody$")


def test_what_a_drafting_agent_would_be_told(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # let an agent draft examples for the gaps; see first what it would be told
        mngr tutorial draft tutorial.sh --dry-run
    """)
    make_project(e2e)
    before = (e2e.cwd / "tutorial.sh").read_bytes()
    result = e2e.run("mngr tutorial draft tutorial.sh --dry-run")
    expect(result).to_succeed()
    expect(result.stdout).to_contain("Greeting several people at once")
    assert (e2e.cwd / "tutorial.sh").read_bytes() == before
    assert agents(e2e) == {}


def test_a_draft_is_put_under_its_gap_and_waits_for_a_person(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # let an agent draft examples for the gaps; see first what it would be told
        mngr tutorial draft tutorial.sh --dry-run
    """)
    make_project(e2e)
    gap = "# Greeting several people at once\n"
    play = [
        {"wait_message": True},
        {"edit": "tutorial.sh", "replace": [gap, f"{gap}./greet Ada && ./greet Bob\n"]},
        {"end_turn": True},
    ]
    (e2e.cwd / "play.json").write_text(json.dumps(play))
    given(e2e, "mngr config set agent_types.drafter.parent scripted")
    given(e2e, """mngr config set agent_types.drafter.args '["play.json"]'""")
    expect(e2e.run("mngr tutorial draft tutorial.sh --dry-run --type drafter")).to_succeed()
    expect(e2e.run("mngr tutorial draft tutorial.sh --type drafter")).to_succeed()
    drafted = f"{gap}# draft: unreviewed\n./greet Ada && ./greet Bob\n"
    expect(e2e.cwd / "tutorial.sh").to_contain(drafted)
    assert agents(e2e) == {}


def test_a_kept_draft_is_a_block(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # look at the drafts, keep one, reject another
        mngr tutorial review tutorial.sh --list
        mngr tutorial review tutorial.sh --keep all
    """)
    make_project(e2e)
    tutorial = e2e.cwd / "tutorial.sh"
    tutorial.write_text(tutorial.read_text() + "# draft: unreviewed\n./greet Ada && ./greet Bob\n")
    expect(e2e.run("mngr tutorial review tutorial.sh --list").stdout).to_contain("./greet Ada && ./greet Bob")
    expect(e2e.run("mngr tutorial review tutorial.sh --keep all")).to_succeed()
    expect(tutorial).to_contain("# Greeting several people at once\n./greet Ada && ./greet Bob\n")
    expect(e2e.run("mngr tutorial gaps tutorial.sh --fail")).to_succeed()


def test_a_rejected_draft_becomes_a_signal(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what did agents find hard to use?
        mngr tutorial signals
    """)
    make_project(e2e)
    tutorial = e2e.cwd / "tutorial.sh"
    before = tutorial.read_text()
    tutorial.write_text(before + "# draft: unreviewed\n./greet --all\n")
    given(e2e, "mngr tutorial review tutorial.sh --reject all --reason 'there is no --all'")
    assert tutorial.read_text() == before
    result = e2e.run("mngr tutorial signals")
    expect(result).to_succeed()
    expect(result.stdout).to_contain("there is no --all")


def test_without_a_signal_the_list_is_empty(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what did agents find hard to use?
        mngr tutorial signals
    """)
    expect(e2e.run("mngr tutorial signals --json").stdout).to_be_json().to_have("signals", [])


def test_what_a_syncing_agent_would_be_told(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # let agents write the tests that are missing; see first what they would be told
        mngr tutorial sync tutorial.sh tests --dry-run
    """)
    make_project(e2e)
    with (e2e.cwd / "tutorial.sh").open("a") as tutorial:
        tutorial.write("\n# greet without a name\n./greet ''\n")
    result = e2e.run("mngr tutorial sync tutorial.sh tests --dry-run")
    expect(result).to_succeed()
    expect(result.stdout).to_contain("# greet without a name")
    assert agents(e2e) == {}


def test_when_all_is_in_step_no_agent_is_needed(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # let agents write the tests that are missing; see first what they would be told
        mngr tutorial sync tutorial.sh tests --dry-run
    """)
    make_project(e2e)
    expect(e2e.run("mngr tutorial sync tutorial.sh tests --type no-such-type")).to_succeed()


def test_the_slash_command_is_installed_once(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the same from inside Claude Code, as a slash command
        mngr tutorial install-command
    """)
    expect(e2e.run("mngr tutorial install-command")).to_succeed()
    installed = e2e.cwd / ".claude" / "commands" / "sync-tutorial-to-e2e-tests.md"
    expect(installed).to_contain("mngr tutorial")
    expect(e2e.run("mngr tutorial install-command")).to_succeed()
    installed.write_text("mine\n")
    expect(e2e.run("mngr tutorial install-command")).to_fail()
    assert installed.read_text() == "mine\n"


def test_what_every_command_did_is_on_a_page(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # run the tests, and see what every command did
        pytest -q tests
        mngr e2e runs
        mngr e2e view --html report.html
    """)
    make_project(e2e)
    expect(e2e.run("pytest -q tests")).to_succeed()
    expect(e2e.run("mngr e2e runs").stdout).to_match(r"2 passed|passed +2|\b2\b")
    expect(e2e.run("mngr e2e view --html report.html")).to_succeed()
    expect(e2e.cwd / "report.html").to_contain("<html")
    (transcript,) = (e2e.cwd / ".mngr" / "e2e").glob("*/*somebody*/attempt-1/transcript.txt")
    expect(transcript).to_contain("$ ./greet Ada\n  hello Ada\n")


def test_without_a_run_there_is_nothing_to_view(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # run the tests, and see what every command did
        pytest -q tests
        mngr e2e runs
        mngr e2e view --html report.html
    """)
    result = e2e.run("mngr e2e view --html report.html")
    expect(result).to_have_exit_code(4)
    expect(e2e.cwd / "report.html").not_.to_exist()
