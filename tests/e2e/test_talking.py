"""Talking to agents and waiting for them: at their terminals, by message, until something is true."""

import json

import pytest
from tests.e2e.scene import agent, agents, given, inside

from mngr_e2e import E2eSession, eventually, expect

pytestmark = [pytest.mark.slow, pytest.mark.e2e(record=False)]


def test_one_sits_down_at_its_terminal_and_leaves_it_running(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # sit down at its terminal; Ctrl-Q leaves it, and it goes on
        mngr connect fix-login
    """)
    given(e2e, "mngr create fix-login -- bash")
    terminal = e2e.terminal("mngr connect fix-login")
    terminal.type("touch sat-down && echo $((40 + 2)) done\n")
    expect(terminal).to_show("42 done", timeout_s=90)
    terminal.keys("C-q")
    expect(terminal).to_have_ended(0, timeout_s=90)
    assert agent(e2e, "fix-login")["state"] == "RUNNING"
    assert inside(e2e, "fix-login", "ls sat-down") == "sat-down\n"


def test_without_a_terminal_it_says_what_to_do(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # sit down at its terminal; Ctrl-Q leaves it, and it goes on
        mngr connect fix-login
    """)
    given(e2e, "mngr create fix-login -- bash")
    result = e2e.run("mngr connect fix-login")
    expect(result).to_have_exit_code(2)
    expect(result.stderr).to_contain("hint: mngr capture")


def test_who_only_looks_cannot_type(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # look over its shoulder without touching anything
        mngr connect fix-login --read-only
    """)
    given(e2e, "mngr create fix-login -- sh -c 'echo look here; exec cat'")
    terminal = e2e.terminal("mngr connect fix-login --read-only")
    expect(terminal).to_show("look here", timeout_s=90)
    terminal.type("tampered\n")
    given(e2e, "mngr message fix-login -m 'from a message'")
    expect(terminal).to_show("from a message", timeout_s=90)
    expect(e2e.run("mngr capture fix-login").stdout).not_.to_contain("tampered")


def test_one_chooses_from_a_list(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # choose from a list
        mngr connect
    """)
    given(e2e, "mngr create first -- sh -c 'echo I am first; exec cat'")
    given(e2e, "mngr create second -- sh -c 'echo I am second; exec cat'")
    terminal = e2e.terminal("mngr connect")
    expect(terminal).to_show("second", timeout_s=90)
    terminal.type("2\n")
    expect(terminal).to_show("I am second", timeout_s=90)
    terminal.keys("C-q")
    expect(terminal).to_have_ended(0, timeout_s=90)


def test_a_stopped_one_is_started_first(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # go to one that was stopped
        mngr connect fix-login --start
    """)
    given(e2e, "mngr create fix-login -- sh -c 'echo I am back; exec cat'", "mngr stop fix-login")
    terminal = e2e.terminal("mngr connect fix-login --start")
    expect(terminal).to_show("I am back", timeout_s=90)
    terminal.keys("C-q")
    expect(terminal).to_have_ended(0, timeout_s=90)
    assert agent(e2e, "fix-login")["state"] == "RUNNING"


def test_a_stopped_one_is_not_started_unasked(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # go to one that was stopped
        mngr connect fix-login --start
    """)
    given(e2e, "mngr create fix-login -- sleep 600", "mngr stop fix-login")
    terminal = e2e.terminal("mngr connect fix-login")
    expect(terminal).to_show("Start it? [y/N]", timeout_s=90)
    terminal.type("n\n")
    expect(terminal).to_have_ended(timeout_s=90)
    assert agent(e2e, "fix-login")["state"] == "STOPPED"


def test_a_message_has_a_receipt(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # tell it something; the receipt says whether it arrived
        mngr message writer -m "now write the tests"
    """)
    given(e2e, "mngr create writer scripted")
    result = e2e.run('mngr message writer -m "now write the tests" --json')
    expect(result).to_succeed()
    expect(result.stdout).to_be_json().to_have("receipt.status", "delivered")
    turn = json.loads(e2e.run("mngr transcript writer --role user --format jsonl").stdout)
    assert turn["text"] == "now write the tests"


def test_a_message_to_one_that_was_stopped_is_blocked(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # tell it something; the receipt says whether it arrived
        mngr message writer -m "now write the tests"
    """)
    given(e2e, "mngr create writer scripted", "mngr stop writer")
    result = e2e.run('mngr message writer -m "now write the tests"')
    expect(result).to_fail()
    expect(e2e.run("mngr transcript writer --role user").stdout).to_be_empty()


def test_a_pipe_can_be_the_message(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what another program prints can be the message
        git log --oneline | mngr message reviewer
    """)
    given(e2e, "mngr create reviewer scripted")
    expect(e2e.run("git log --oneline | mngr message reviewer")).to_succeed()
    turn = json.loads(e2e.run("mngr transcript reviewer --role user --format jsonl").stdout)
    expect(turn["text"]).to_match(r"^[0-9a-f]{7,} the first commit$")


def test_one_waits_for_the_answer(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # ask, wait until it has answered, and read the answer
        mngr message writer -m "are you done?" --wait turn
        mngr transcript writer --role agent --tail 1
    """)
    given(e2e, "mngr create writer scripted")
    expect(e2e.run('mngr message writer -m "are you done?" --wait turn')).to_succeed()
    answer = e2e.run("mngr transcript writer --role agent --tail 1")
    expect(answer.stdout).to_contain("You said: are you done?")


def test_an_answer_that_does_not_come_is_given_up(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # ask, wait until it has answered, and read the answer
        mngr message writer -m "are you done?" --wait turn
        mngr transcript writer --role agent --tail 1
    """)
    (e2e.cwd / "slow.json").write_text('[{"end_turn": true}, {"sleep": 600}]')
    given(e2e, "mngr create writer scripted -- slow.json")
    result = e2e.run('mngr message writer -m "are you done?" --wait turn --timeout 1s')
    expect(result).to_have_exit_code(124)


def test_several_get_the_same_words(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the same words to several
        mngr message writer reviewer -m "the branch is frozen"
    """)
    given(e2e, "mngr create writer scripted", "mngr create reviewer scripted")
    expect(e2e.run('mngr message writer reviewer -m "the branch is frozen"')).to_succeed()
    for name in ("writer", "reviewer"):
        expect(e2e.run(f"mngr transcript {name} --role user").stdout).to_contain("the branch is frozen")


def test_when_one_of_several_is_unknown_the_others_get_it(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the same words to several
        mngr message writer reviewer -m "the branch is frozen"
    """)
    given(e2e, "mngr create writer scripted")
    result = e2e.run('mngr message writer reviewer -m "the branch is frozen"')
    expect(result).to_have_exit_code(3)
    expect(result.stderr).to_contain("reviewer")
    expect(e2e.run("mngr transcript writer --role user").stdout).to_contain("the branch is frozen")


def test_a_plain_program_is_typed_to(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a plain program gets it typed on its terminal
        mngr message fix-login -m "touch was-here"
    """)
    given(e2e, "mngr create fix-login -- bash")
    expect(e2e.run('mngr message fix-login -m "touch was-here"')).to_succeed()
    eventually(lambda: expect(e2e.run("mngr exec fix-login -- ls was-here")).to_succeed())


def test_one_comes_back_when_it_is_done(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # start something and come back when it is done
        mngr create build -- sh -c 'echo built > result.txt'
        mngr wait build
    """)
    expect(e2e.run("mngr create build -- sh -c 'echo built > result.txt'")).to_succeed()
    result = e2e.run("mngr wait build", timeout_s=90)
    expect(result).to_succeed()
    expect(result.stdout).to_contain("build")
    assert (agent(e2e, "build")["state"], agent(e2e, "build")["exit_code"]) == ("DONE", 0)
    assert inside(e2e, "build", "cat result.txt") == "built\n"


def test_the_first_of_several_is_enough(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the first of several is enough
        mngr wait slow quick --any --until done
    """)
    given(e2e, "mngr create slow -- sleep 600", "mngr create quick -- sh -c 'sleep 0.5'")
    result = e2e.run("mngr wait slow quick --any --until done --format '{name}'", timeout_s=90)
    expect(result.stdout).to_equal("quick\n")
    assert agent(e2e, "slow")["state"] == "RUNNING"


def test_what_can_no_longer_come_is_not_waited_for(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the first of several is enough
        mngr wait slow quick --any --until done
    """)
    given(e2e, "mngr create slow -- sleep 600", "mngr stop slow")
    result = e2e.run("mngr wait slow --until waiting", timeout_s=90)
    expect(result).to_have_exit_code(1)


def test_the_time_is_up(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # not for ever: exit code 124 says that the time was up
        mngr wait writer --until done --timeout 1s
    """)
    given(e2e, "mngr create writer scripted")
    expect(e2e.run("mngr wait writer --until done --timeout 1s")).to_have_exit_code(124)
    eventually(lambda: expect(agent(e2e, "writer")["state"]).to_equal("WAITING"))


def test_a_result_is_waited_for(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # until it has handed over a result
        mngr create worker -- sh -c 'echo "{}" > "$MNGR_OUTBOX/result.json"; sleep 600'
        mngr wait worker --until result
    """)
    given(e2e, """mngr create worker -- sh -c 'echo "{}" > "$MNGR_OUTBOX/result.json"; sleep 600'""")
    expect(e2e.run("mngr wait worker --until result", timeout_s=90)).to_succeed()
    made = agents(e2e)["worker"]
    assert (made["state"], made["result"]) == ("RUNNING", True)
