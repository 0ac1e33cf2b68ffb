"""Stopping, keeping, removing: what ends, what stays, and what comes back."""

from pathlib import Path

import pytest
from tests.e2e.scene import agent, agents, commit, git, given, inside, is_running

from mngr_e2e import E2eSession, eventually, expect

pytestmark = [pytest.mark.slow, pytest.mark.e2e(record=False)]


def test_what_was_stopped_goes_on_where_it_was(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # end its processes, all of them, and keep its work; start it again later
        mngr stop fix-login
        mngr start fix-login
    """)
    given(e2e, "mngr create fix-login --env COLOUR=blue -- sh -c 'echo \"$COLOUR\" >>seen; exec sleep 600'")
    eventually(lambda: expect(e2e.run("mngr exec fix-login -- cat seen").stdout).to_equal("blue\n"))
    before = agent(e2e, "fix-login")
    expect(e2e.run("mngr stop fix-login")).to_succeed()
    assert agent(e2e, "fix-login")["state"] == "STOPPED"
    expect(e2e.run("mngr start fix-login")).to_succeed()
    after = agent(e2e, "fix-login")
    assert after["state"] == "RUNNING"
    assert [after[key] for key in ("id", "work_dir", "branch")] == [
        before[key] for key in ("id", "work_dir", "branch")
    ]
    eventually(lambda: expect(e2e.run("mngr exec fix-login -- cat seen").stdout).to_equal("blue\nblue\n"))


def test_a_stop_ends_what_it_started_too(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # end its processes, all of them, and keep its work; start it again later
        mngr stop fix-login
        mngr start fix-login
    """)
    script = "setsid sleep 601 & echo $! >child; sleep 602 & echo $! >>child; wait"
    given(e2e, f"mngr create fix-login -- sh -c '{script}'")
    work_dir = Path(agent(e2e, "fix-login")["work_dir"])
    eventually(lambda: expect(e2e.run("mngr exec fix-login -- cat child").stdout).to_match(r"^\d+\n\d+$"))
    expect(e2e.run("mngr stop fix-login")).to_succeed()
    for pid in (work_dir / "child").read_text().split():
        assert not is_running(pid)


def test_stopping_twice_changes_nothing(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # end its processes, all of them, and keep its work; start it again later
        mngr stop fix-login
        mngr start fix-login
    """)
    given(e2e, "mngr create fix-login -- sleep 600", "mngr stop fix-login")
    again = e2e.run("mngr stop fix-login --json")
    expect(again).to_succeed()
    expect(again.stdout).to_be_json().to_have("changed", False)


def test_everything_stops_and_everything_goes_on(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # go home: everything stops; come back: everything goes on
        mngr stop --all
        mngr start --all
    """)
    given(e2e, "mngr create one -- sleep 600", "mngr create two -- sleep 600", "mngr create three scripted")
    expect(e2e.run("mngr stop --all")).to_succeed()
    assert {record["state"] for record in agents(e2e).values()} == {"STOPPED"}
    expect(e2e.run("mngr start --all")).to_succeed()
    given(e2e, "mngr wait three --timeout 20s")
    assert {name: record["state"] for name, record in agents(e2e).items()} == {
        "one": "RUNNING",
        "two": "RUNNING",
        "three": "WAITING",
    }


def test_who_does_not_listen_is_ended_after_the_grace(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # give it less time to end by itself
        mngr stop stubborn --grace 1s
    """)
    script = "trap : TERM HUP INT; touch deaf; while :; do sleep 600 & wait; done"
    given(e2e, f'mngr create stubborn -- bash -c "{script}"', "mngr config set commands.stop.grace 300s")
    eventually(lambda: expect(e2e.run("mngr exec stubborn -- ls deaf")).to_succeed())
    result = e2e.run("mngr stop stubborn --grace 1s", timeout_s=90)
    expect(result).to_succeed()
    assert result.duration_s < 80
    assert agent(e2e, "stubborn")["state"] == "STOPPED"


def test_another_name_for_the_same_agent(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # another name; its branch and its directory stay
        mngr rename fix-login login
    """)
    given(e2e, "mngr create fix-login -- sleep 600")
    before = agent(e2e, "fix-login")
    expect(e2e.run("mngr rename fix-login login")).to_succeed()
    found = agents(e2e)
    assert list(found) == ["login"]
    assert [found["login"][key] for key in ("id", "branch", "work_dir", "state")] == [
        before[key] for key in ("id", "branch", "work_dir", "state")
    ]


def test_a_name_that_is_taken_cannot_be_given(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # another name; its branch and its directory stay
        mngr rename fix-login login
    """)
    given(e2e, "mngr create fix-login -- sleep 600", "mngr create login -- sleep 600")
    expect(e2e.run("mngr rename fix-login login")).to_have_exit_code(6)
    assert sorted(agents(e2e)) == ["fix-login", "login"]


def test_labels_are_put_on_and_taken_off(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # put labels on, and take them off
        mngr label fix-login task=login owner=ada
        mngr label fix-login --remove owner
    """)
    given(e2e, "mngr create fix-login --label task=none -- sleep 600")
    expect(e2e.run("mngr label fix-login task=login owner=ada")).to_succeed()
    assert agent(e2e, "fix-login")["labels"] == {"task": "login", "owner": "ada"}
    expect(e2e.run("mngr label fix-login --remove owner")).to_succeed()
    assert agent(e2e, "fix-login")["labels"] == {"task": "login"}


def test_a_clone_has_the_same_work(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a second agent with the same work, uncommitted changes included, to try something else
        mngr clone fix-login experiment
    """)
    given(e2e, "mngr create fix-login --label task=login -- sleep 600")
    commit(e2e, "fix-login", "done.txt")
    inside(e2e, "fix-login", "echo half >half.txt")
    expect(e2e.run("mngr clone fix-login experiment")).to_succeed()
    assert inside(e2e, "experiment", "cat done.txt half.txt") == "from the agent\nhalf\n"
    twin = agent(e2e, "experiment")
    assert (twin["labels"], twin["state"]) == ({"task": "login"}, "RUNNING")
    inside(e2e, "experiment", "echo other >half.txt")
    assert inside(e2e, "fix-login", "cat half.txt") == "half\n"


def test_a_clone_knows_what_was_said(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a second agent with the same work, uncommitted changes included, to try something else
        mngr clone fix-login experiment
    """)
    given(e2e, "mngr create fix-login scripted -m 'remember me'", "mngr wait fix-login --timeout 20s")
    expect(e2e.run("mngr clone fix-login experiment")).to_succeed()
    expect(e2e.run("mngr transcript experiment").stdout).to_contain("remember me")


def test_a_snapshot_brings_files_back(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # keep its files as they are now, and go back to that
        mngr snapshot create fix-login before
        mngr snapshot list
        mngr snapshot restore before
    """)
    given(e2e, "mngr create fix-login -- sleep 600")
    inside(e2e, "fix-login", "echo good >work.txt")
    expect(e2e.run("mngr snapshot create fix-login before")).to_succeed()
    inside(e2e, "fix-login", "echo bad >work.txt; rm README.md; echo junk >junk.txt")
    expect(e2e.run("mngr snapshot list").stdout).to_match(r"^before +fix-login")
    expect(e2e.run("mngr snapshot restore before")).to_succeed()
    assert inside(e2e, "fix-login", "cat work.txt; ls") == "good\nREADME.md\nwork.txt\n"
    assert agent(e2e, "fix-login")["state"] == "RUNNING"
    assert len(e2e.run("mngr snapshot list --format '{name}'").stdout.splitlines()) == 2


def test_a_snapshot_that_is_not_there_says_the_nearest(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # keep its files as they are now, and go back to that
        mngr snapshot create fix-login before
        mngr snapshot list
        mngr snapshot restore before
    """)
    given(e2e, "mngr create fix-login -- sleep 600", "mngr snapshot create fix-login before")
    result = e2e.run("mngr snapshot restore befor")
    expect(result).to_have_exit_code(4)
    expect(result.stderr).to_contain('"before"')


def test_the_only_agent_needs_no_name(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the only agent, or the one of this directory, needs no name
        mngr snapshot create my-snapshot
    """)
    given(e2e, "mngr create only -- sleep 600")
    expect(e2e.run("mngr snapshot create my-snapshot")).to_succeed()
    expect(e2e.run("mngr snapshot list").stdout).to_match(r"^my-snapshot +only")


def test_of_several_agents_one_must_be_named(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the only agent, or the one of this directory, needs no name
        mngr snapshot create my-snapshot
    """)
    given(e2e, "mngr create one -- sleep 600", "mngr create two -- sleep 600")
    expect(e2e.run("mngr snapshot create my-snapshot")).to_have_exit_code(2)
    there = agent(e2e, "two")["work_dir"]
    expect(e2e.run("mngr snapshot create my-snapshot", cwd=there)).to_succeed()
    expect(e2e.run("mngr snapshot list").stdout).to_match(r"^my-snapshot +two")


def test_an_agent_starts_from_a_snapshot(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # start new agents from a snapshot
        mngr snapshot create fix-login prepared
        mngr create again --snapshot prepared -- bash
    """)
    given(e2e, "mngr create fix-login -- sleep 600")
    inside(e2e, "fix-login", "echo prepared >state.txt")
    expect(e2e.run("mngr snapshot create fix-login prepared")).to_succeed()
    inside(e2e, "fix-login", "echo spoiled >state.txt")
    expect(e2e.run("mngr create again --snapshot prepared -- bash")).to_succeed()
    assert inside(e2e, "again", "cat state.txt") == "prepared\n"


def test_a_snapshot_is_removed(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a snapshot that is not needed any more
        mngr snapshot destroy before --yes
    """)
    given(e2e, "mngr create fix-login -- sleep 600", "mngr snapshot create fix-login before")
    expect(e2e.run("mngr snapshot destroy before")).to_have_exit_code(6)
    expect(e2e.run("mngr snapshot destroy before --yes")).to_succeed()
    expect(e2e.run("mngr snapshot list --format '{name}'").stdout).to_be_empty()
    assert agent(e2e, "fix-login")["state"] == "RUNNING"


def test_destroying_removes_exactly_its_own(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # remove an agent with everything that is its own; a branch with commits that are nowhere else is kept
        mngr destroy fix-login --yes
    """)
    given(e2e, "mngr create fix-login -- sleep 600", "mngr create neighbour -- sleep 600")
    work_dir = Path(agent(e2e, "fix-login")["work_dir"])
    expect(e2e.run("mngr destroy fix-login --yes")).to_succeed()
    expect(work_dir).not_.to_exist()
    assert git(e2e, "branch", "--format=%(refname:short)").split() == ["main", "mngr/neighbour"]
    assert agents(e2e)["neighbour"]["state"] == "RUNNING"


def test_commits_that_are_nowhere_else_are_kept(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # remove an agent with everything that is its own; a branch with commits that are nowhere else is kept
        mngr destroy fix-login --yes
    """)
    given(e2e, "mngr create fix-login -- sleep 600")
    commit(e2e, "fix-login", "precious.txt")
    result = e2e.run("mngr destroy fix-login --yes")
    expect(result).to_succeed()
    expect(result.stdout + result.stderr).to_contain("mngr/fix-login")
    assert git(e2e, "log", "-1", "--format=%s", "mngr/fix-login") == "add precious.txt"
    assert agents(e2e) == {}


def test_an_unknown_name_destroys_nothing(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # remove an agent with everything that is its own; a branch with commits that are nowhere else is kept
        mngr destroy fix-login --yes
    """)
    given(e2e, "mngr create fix-login-2 -- sleep 600")
    result = e2e.run("mngr destroy fix-login --yes")
    expect(result).to_have_exit_code(4)
    assert agent(e2e, "fix-login-2")["state"] == "RUNNING"


def test_a_dry_run_says_who_would_go(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what would go?
        mngr destroy --stopped --label batch=7 --dry-run
    """)
    given(e2e, "mngr create old --label batch=7 -- sleep 600", "mngr stop old")
    given(e2e, "mngr create busy --label batch=7 -- sleep 600", "mngr create other --foreground -- true")
    result = e2e.run("mngr destroy --stopped --label batch=7 --dry-run")
    expect(result.stdout).to_equal("Would destroy old\n")
    assert sorted(agents(e2e)) == ["busy", "old", "other"]


def test_all_of_them_go(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # remove all of them
        mngr destroy --all --yes
    """)
    given(e2e, "mngr create one -- sleep 600", "mngr create two scripted", "mngr create three -- sleep 600")
    given(e2e, "mngr stop three")
    expect(e2e.run("mngr destroy --all --yes")).to_succeed()
    assert agents(e2e) == {}
    assert git(e2e, "branch", "--format=%(refname:short)") == "main"
    assert len(git(e2e, "worktree", "list").splitlines()) == 1
