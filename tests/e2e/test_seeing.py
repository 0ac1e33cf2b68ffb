"""Seeing what agents do: the list in its forms, their terminals, conversations and events."""

import json

import pytest
from tests.e2e.scene import agent, given

from mngr_e2e import E2eSession, eventually, expect

pytestmark = [pytest.mark.slow, pytest.mark.e2e(record=False)]


def test_the_list_tells_state_and_branch_of_each(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # who is there, and what is each doing?
        mngr list
    """)
    given(e2e, "mngr create alive -- sleep 600", "mngr create --foreground over -- true")
    given(e2e, "mngr create writer scripted", "mngr wait writer --timeout 20s")
    given(e2e, "mngr create resting -- sleep 600", "mngr stop resting")
    result = e2e.run("mngr list", comment="who is there, and what is each doing?")
    expect(result).to_succeed()
    expect(result.stdout).to_match(r"^alive +RUNNING +command +mngr/alive")
    expect(result.stdout).to_match(r"^over +DONE \(0\) +command")
    expect(result.stdout).to_match(r"^writer +WAITING \(end of turn\) +scripted")
    expect(result.stdout).to_match(r"^resting +STOPPED +command")


def test_an_empty_list_says_how_to_begin(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # who is there, and what is each doing?
        mngr list
    """)
    result = e2e.run("mngr list")
    expect(result).to_succeed()
    expect(result.stdout).to_be_empty()
    expect(result.stderr).to_contain("mngr create")


def test_a_program_that_was_killed_is_told_from_one_that_exits_with_137(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # who is there, and what is each doing?
        mngr list
    """)
    given(
        e2e,
        "mngr create shot -- sh -c 'sleep 0.2; kill -9 $$'",
        "mngr create own -- sh -c 'sleep 0.2; exit 137'",
    )
    given(e2e, "mngr wait shot own --until done --timeout 90s")
    listed = e2e.run("mngr list").stdout
    expect(listed).to_match(r"^shot +DONE \(SIGKILL\)")
    expect(listed).to_match(r"^own +DONE \(137\)")


def test_filters_choose_agents(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # only those that are alive; only those of a label; only those whose name looks like this
        mngr list --running
        mngr list --label batch=7
        mngr list --where 'name~test-*' --where 'state!=DONE'
    """)
    given(e2e, "mngr create test-one --label batch=7 -- sleep 600", "mngr create other -- sleep 600")
    given(e2e, "mngr create test-two --label batch=8 --foreground -- true")
    running = e2e.run("mngr list --running").stdout
    expect(running).to_contain("test-one")
    expect(running).to_contain("other")
    expect(running).not_.to_contain("test-two")
    of_a_label = e2e.run("mngr list --label batch=7").stdout
    expect(of_a_label).to_contain("test-one")
    expect(of_a_label).not_.to_match("test-two|other")
    by_name = e2e.run("mngr list --where 'name~test-*' --where 'state!=DONE'").stdout
    expect(by_name).to_contain("test-one")
    expect(by_name).not_.to_match("test-two|other")


def test_a_filter_on_a_field_that_is_none_says_the_nearest(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # only those that are alive; only those of a label; only those whose name looks like this
        mngr list --running
        mngr list --label batch=7
        mngr list --where 'name~test-*' --where 'state!=DONE'
    """)
    result = e2e.run("mngr list --where 'stat=DONE'")
    expect(result).to_have_exit_code(2)
    expect(result.stderr).to_contain('did you mean "state"')


def test_json_is_one_document_for_programs(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # for programs: one JSON document
        mngr list --json
    """)
    given(e2e, "mngr create foo --label k=v -- sleep 600")
    listed = expect(e2e.run("mngr list --json").stdout).to_be_json()
    listed.to_have("schema", 1)
    listed.to_have("agents[0].name", "foo")
    listed.to_have("agents[0].labels.k", "v")
    listed.to_have("agents[0].host.provider", "local")
    listed.to_have("warnings", [])


def test_json_of_nobody_is_a_document_too(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # for programs: one JSON document
        mngr list --json
    """)
    result = e2e.run("mngr list --json")
    expect(result.stdout).to_be_json().to_have("agents", [])
    expect(result.stderr).to_be_empty()


def test_a_line_of_ones_own_for_each(e2e: E2eSession) -> None:
    e2e.write_tutorial_block(r"""
        # a line of your own for each
        mngr list --format '{name}\t{state}\t{branch}'
    """)
    given(e2e, "mngr create foo -- sleep 600", "mngr create bar -- sleep 600")
    result = e2e.run(r"mngr list --format '{name}\t{state}\t{branch}'")
    assert sorted(result.stdout.splitlines()) == ["bar\tRUNNING\tmngr/bar", "foo\tRUNNING\tmngr/foo"]


def test_a_field_that_does_not_exist_is_a_wrong_call(e2e: E2eSession) -> None:
    e2e.write_tutorial_block(r"""
        # a line of your own for each
        mngr list --format '{name}\t{state}\t{branch}'
    """)
    result = e2e.run("mngr list --format '{nam}'")
    expect(result).to_have_exit_code(2)
    expect(result.stderr).to_contain('did you mean "name"')


def test_order_number_and_fields_are_chosen(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the newest two, and only these fields
        mngr list --sort -created_at --limit 2 --fields name,state
    """)
    given(e2e, *(f"mngr create {name} -- sleep 600" for name in ("old", "newer", "newest")))
    result = e2e.run("mngr list --sort -created_at --limit 2 --fields name,state")
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["NAME", "STATE"],
        ["newest", "RUNNING"],
        ["newer", "RUNNING"],
    ]


def test_evidence_is_shown_with_its_age(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # why does it say so? the evidence for each state, and how old it is
        mngr list --explain
    """)
    given(e2e, "mngr create foo -- sleep 600")
    result = e2e.run("mngr list --explain")
    expect(result.stdout).to_match(r"^foo: RUNNING\n +state RUNNING: process \d+ in its pane")
    expect(result.stdout).to_match(r"last event: \d+ s ago")


def test_a_killed_tmux_server_is_explained_and_not_guessed(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # why does it say so? the evidence for each state, and how old it is
        mngr list --explain
    """)
    given(e2e, "mngr create foo -- sleep 600")
    attach = agent(e2e, "foo")["attach"]
    given(e2e, f"tmux -S {attach[attach.index('-S') + 1]} kill-server")

    def is_told() -> None:
        expect(e2e.run("mngr list --explain").stdout).to_match(r"^foo: UNKNOWN")

    eventually(is_told)


def test_every_field_of_a_record_is_in_the_catalogue(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # which fields are there?
        mngr list --schema
    """)
    given(e2e, "mngr create foo -- sleep 600")
    fields = {line.split()[0] for line in e2e.run("mngr list --schema").stdout.splitlines()[1:]}
    assert set(agent(e2e, "foo")) <= fields


def test_hosts_are_listed_with_how_many_agents(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the machines that agents are on
        mngr list --hosts
    """)
    given(e2e, "mngr create foo -- sleep 600", "mngr create bar@lab.faulty -- sleep 600")
    result = e2e.run("mngr list --hosts")
    expect(result.stdout).to_match(r"^local +local +RUNNING +1$")
    expect(result.stdout).to_match(r"^lab +faulty +RUNNING +1$")


def test_watching_shows_changes_as_they_come(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # stay, and see changes as they come; who needs you is marked
        mngr list --watch
    """)
    given(e2e, "mngr create foo -- sh -c 'sleep 600'")
    board = e2e.terminal("mngr list --watch")
    expect(board).to_show("foo", timeout_s=90)
    given(e2e, "mngr create asker scripted", "mngr stop foo")
    expect(board).to_show("STOPPED", timeout_s=90)
    expect(board).to_show(">  asker", timeout_s=90)
    board.keys("C-c")
    expect(board).to_have_ended(timeout_s=90)


def test_a_terminal_and_all_that_ever_was_on_it(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what is on its terminal now, and all that ever was
        mngr capture fix-login
        mngr capture fix-login --full
    """)
    given(e2e, "mngr create fix-login -- sh -c 'seq 1000; exec sleep 600'")
    eventually(lambda: expect(e2e.run("mngr capture fix-login").stdout).to_contain_lines("1000"))
    expect(e2e.run("mngr capture fix-login").stdout).not_.to_contain_lines("1")
    expect(e2e.run("mngr capture fix-login --full").stdout).to_contain_lines("1", "500", "1000")


def test_the_last_screen_of_a_stopped_agent_is_kept(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what is on its terminal now, and all that ever was
        mngr capture fix-login
        mngr capture fix-login --full
    """)
    given(e2e, "mngr create fix-login -- sh -c 'echo last words; exec sleep 600'")
    eventually(lambda: expect(e2e.run("mngr capture fix-login").stdout).to_contain("last words"))
    given(e2e, "mngr stop fix-login")
    expect(e2e.run("mngr capture fix-login").stdout).to_contain("last words")


def test_nobody_of_that_name_says_who_is_meant(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what is on its terminal now, and all that ever was
        mngr capture fix-login
        mngr capture fix-login --full
    """)
    given(e2e, "mngr create fix-login -- sleep 600")
    result = e2e.run("mngr capture fix-logn")
    expect(result).to_have_exit_code(4)
    expect(result.stderr).to_contain('did you mean "fix-login"')


def test_a_conversation_and_its_last_answer(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what was said, and only its last answer
        mngr transcript writer
        mngr transcript writer --role agent --tail 1
    """)
    given(
        e2e, "mngr create writer scripted -m 'one'", "mngr message writer -m 'two' --wait turn --timeout 20s"
    )
    whole = e2e.run("mngr transcript writer").stdout
    expect(whole).to_match(
        r"user:\n  one\n\nagent:\n  You said: one\n\nuser:\n  two\n\nagent:\n  You said: two"
    )
    expect(e2e.run("mngr transcript writer --role agent --tail 1").stdout).to_equal(
        "agent:\n  You said: two\n"
    )


def test_a_plain_program_has_no_conversation(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what was said, and only its last answer
        mngr transcript writer
        mngr transcript writer --role agent --tail 1
    """)
    given(e2e, "mngr create writer -- sleep 600")
    result = e2e.run("mngr transcript writer")
    expect(result).to_fail()
    expect(result.stderr).to_contain("hint: ")


def test_events_are_lines_in_the_order_they_happened(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what happened to it, as lines for a program
        mngr events writer --format jsonl
    """)
    given(e2e, "mngr create writer -- sleep 600", "mngr label writer a=b", "mngr stop writer")
    lines = e2e.run("mngr events writer --format jsonl").stdout.splitlines()
    kinds = [json.loads(line)["kind"] for line in lines]
    assert kinds[0] == "creating"
    assert [kind for kind in kinds if kind in ("created", "labelled", "stopped")] == [
        "created",
        "labelled",
        "stopped",
    ]
