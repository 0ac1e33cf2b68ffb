"""On other machines: the same verbs with one word more, on hosts that pretend to be far away."""

import pytest
from tests.e2e.scene import agent, agents, commit, git, given

from mngr_e2e import E2eSession, expect

pytestmark = [pytest.mark.slow, pytest.mark.e2e(record=False)]


def test_the_same_verbs_far_away(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the same with one word more; faulty is a pretended machine, docker and ssh are real ones
        mngr create far@.faulty -- sleep 600
        mngr exec far -- git status --short
        mngr pull far
    """)
    expect(e2e.run("mngr create far@.faulty -- sleep 600")).to_succeed()
    made = agent(e2e, "far")
    assert (made["host"]["provider"], made["transfer"], made["state"]) == ("faulty", "mirror", "RUNNING")
    commit(e2e, "far", "far.txt")
    expect(e2e.run("mngr exec far -- git status --short").stdout).to_be_empty()
    expect(e2e.run("mngr pull far")).to_succeed()
    assert git(e2e, "log", "-1", "--format=%s", "mngr/far") == "add far.txt"


def test_a_provider_that_is_not_there_says_the_nearest(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the same with one word more; faulty is a pretended machine, docker and ssh are real ones
        mngr create far@.faulty -- sleep 600
        mngr exec far -- git status --short
        mngr pull far
    """)
    result = e2e.run("mngr create far@.fautly -- sleep 600")
    expect(result).to_have_exit_code(2)
    expect(result.stderr).to_contain('did you mean "faulty"')
    assert agents(e2e) == {}


def test_an_option_that_a_provider_cannot_honour_is_an_error(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the same with one word more; faulty is a pretended machine, docker and ssh are real ones
        mngr create far@.faulty -- sleep 600
        mngr exec far -- git status --short
        mngr pull far
    """)
    result = e2e.run("mngr create far --memory 4G -- sleep 600")
    expect(result).to_fail()
    expect(result.stderr).to_contain("--memory")
    assert agents(e2e) == {}


def test_two_agents_share_a_machine(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a machine with a name, and two agents on it
        mngr create one@lab.faulty -- sleep 600
        mngr create two@lab.faulty -- sleep 600
        mngr list --host lab
    """)
    given(e2e, "mngr create one@lab.faulty -- sleep 600", "mngr create two@lab.faulty -- sleep 600")
    given(e2e, "mngr create here -- sleep 600")
    listed = e2e.run("mngr list --host lab").stdout
    expect(listed).to_match(r"^one +RUNNING +command +lab\.faulty")
    expect(listed).to_match(r"^two +RUNNING +command +lab\.faulty")
    expect(listed).not_.to_contain("here")


def test_an_agent_moves_away_and_comes_back(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # move an agent to another machine, with its work, its name and its labels, and back again
        mngr migrate fix-login @.faulty
        mngr migrate fix-login @local
    """)
    given(e2e, "mngr create fix-login --label owner=ada -- sleep 600")
    commit(e2e, "fix-login", "login.txt")
    for line, provider in (
        ("mngr migrate fix-login @.faulty", "faulty"),
        ("mngr migrate fix-login @local", "local"),
    ):
        expect(e2e.run(line)).to_succeed()
        (moved,) = agents(e2e).values()
        assert (moved["name"], moved["state"], moved["host"]["provider"]) == (
            "fix-login",
            "RUNNING",
            provider,
        )
        assert moved["labels"] == {"owner": "ada"}
        expect(e2e.run("mngr exec fix-login -- ls").stdout).to_contain("login.txt")


def test_a_machine_goes_with_all_its_agents(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the machine itself: all its agents go with it
        mngr destroy @lab.faulty --yes
    """)
    given(e2e, "mngr create one@lab.faulty -- sleep 600", "mngr create two@lab.faulty -- sleep 600")
    given(e2e, "mngr create here -- sleep 600")
    expect(e2e.run("mngr destroy @lab.faulty --yes")).to_succeed()
    assert list(agents(e2e)) == ["here"]
    expect(e2e.run("mngr list --hosts").stdout).not_.to_contain("lab")


def test_a_machine_that_is_not_there_is_named(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the machine itself: all its agents go with it
        mngr destroy @lab.faulty --yes
    """)
    result = e2e.run("mngr destroy @lab.faulty --yes")
    expect(result).to_have_exit_code(4)
    expect(result.stderr).to_contain("lab")


def test_a_bad_line_is_told_from_a_command_that_fails(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # how would your scripts do on a bad line? a fifth of all calls break, always the same ones
        mngr -S providers.faulty.drop=0.2 -S providers.faulty.seed=7 create brave@.faulty -- sleep 600 ||
            echo "it says $?"
    """)
    for _ in range(2):
        result = e2e.run(
            "mngr -S providers.faulty.drop=0.2 -S providers.faulty.seed=7 create brave@.faulty -- sleep 600 ||"
            ' echo "it says $?"'
        )
        expect(result.stdout).to_equal("it says 5\n")
        expect(result.stderr).to_match("could not be made: no answer\nhint: try again$")
        assert agents(e2e) == {}
