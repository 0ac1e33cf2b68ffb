"""Keeping house: costs, leftovers, settings, plugins, completion."""

import json

import pytest
from tests.e2e.scene import agent, agents, given

from mngr_e2e import E2eSession, eventually, expect

pytestmark = [pytest.mark.slow, pytest.mark.e2e(record=False)]


def test_costs_are_added_up(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what did it cost? by agent, and by day
        mngr usage
        mngr usage --by day --since 7d
    """)
    used = {"input_tokens": 1000, "output_tokens": 200, "cost_usd": 0.5}
    (e2e.cwd / "spend.json").write_text(json.dumps([{"usage": used}, {"exit": 0}]))
    given(e2e, *(f"mngr create {name} scripted -- spend.json" for name in ("one", "two")))
    given(e2e, "mngr wait one two --until done --timeout 20s")
    expect(e2e.run("mngr usage").stdout).to_match(r"(?s)one.*0\.50.*two.*0\.50")
    total = expect(e2e.run("mngr usage --json").stdout).to_be_json()
    total.to_have("total.input_tokens", 2000)
    total.to_have("total.cost_usd", 1.0)
    expect(e2e.run("mngr usage --by day --since 7d")).to_succeed()


def test_nothing_used_is_said(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what did it cost? by agent, and by day
        mngr usage
        mngr usage --by day --since 7d
    """)
    given(e2e, "mngr create foo -- sleep 600")
    result = e2e.run("mngr usage")
    expect(result).to_succeed()
    expect(result.stdout + result.stderr).to_contain("No agent has used any tokens")


def test_who_has_nothing_to_do_is_stopped(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # stop those that have had nothing to do for two hours; remove what is older than a week
        mngr cleanup --idle-for 2h --stop --yes
        mngr cleanup --older-than 7d --dry-run
    """)
    given(e2e, "mngr create busy -- sleep 600", "mngr create idle scripted", "mngr wait idle --timeout 20s")
    expect(e2e.run("mngr cleanup --idle-for 2h --stop --yes")).to_succeed()
    assert {record["state"] for record in agents(e2e).values()} == {"RUNNING", "WAITING"}
    expect(e2e.run("mngr cleanup --older-than 7d --dry-run")).to_succeed()

    def is_stopped() -> None:
        expect(e2e.run("mngr cleanup --idle-for 1s --stop --yes")).to_succeed()
        assert agent(e2e, "idle")["state"] == "STOPPED"

    eventually(is_stopped)
    assert agent(e2e, "busy")["state"] == "RUNNING"


def test_cleaning_up_without_a_filter_is_refused(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # stop those that have had nothing to do for two hours; remove what is older than a week
        mngr cleanup --idle-for 2h --stop --yes
        mngr cleanup --older-than 7d --dry-run
    """)
    given(e2e, "mngr create busy -- sleep 600")
    expect(e2e.run("mngr cleanup --stop")).to_have_exit_code(2)
    assert agent(e2e, "busy")["state"] == "RUNNING"


def test_those_that_ended_are_removed_by_label(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # remove agents that ended, by label
        mngr cleanup --stopped --label batch=7 --destroy --yes
    """)
    given(e2e, "mngr create over --label batch=7 --foreground -- true")
    given(e2e, "mngr create alive --label batch=7 -- sleep 600", "mngr create other --foreground -- true")
    expect(e2e.run("mngr cleanup --stopped --label batch=7 --destroy --yes")).to_succeed()
    assert sorted(agents(e2e)) == ["alive", "other"]


def test_what_nobody_owns_is_found_and_removed(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # is anything left without an owner? then remove it
        mngr gc --dry-run
        mngr gc --yes
    """)
    given(e2e, "mngr create foo -- sleep 600", "mngr create lost -- sleep 600")
    lost = agent(e2e, "lost")
    given(e2e, f'rm -r "$MNGR_HOST_DIR/agents/{lost["id"]}"')
    found = e2e.run("mngr gc --dry-run")
    expect(found).to_succeed()
    expect(found.stdout).to_contain(lost["work_dir"])
    expect(e2e.run("mngr gc --yes")).to_succeed()
    expect(e2e.run(f"test -e {lost['work_dir']}")).to_fail()
    expect(e2e.run("mngr gc --dry-run").stdout).to_contain("Nothing to remove")
    assert agent(e2e, "foo")["state"] == "RUNNING"


def test_settings_are_listed_with_where_they_come_from(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # every setting, and where it comes from
        mngr config list
    """)
    given(e2e, "mngr config set --local commands.list.limit 5")
    result = e2e.run("mngr config list")
    expect(result.stdout).to_match(r"commands\.list\.limit.*5.*settings\.local\.toml")
    expect(result.stdout).to_match(r"prefix")


def test_settings_for_oneself_and_for_a_repository(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # set one for yourself, and for this repository
        mngr config set prefix dev-
        mngr config set --project commands.list.sort name
    """)
    expect(e2e.run("mngr config set prefix dev-")).to_succeed()
    expect(e2e.run("mngr config set --project commands.list.sort name")).to_succeed()
    expect(e2e.cwd / ".mngr" / "settings.toml").to_contain('sort = "name"')
    given(e2e, *(f"env -u MNGR_PREFIX mngr create {name} -- sleep 600" for name in ("zoe", "ada")))
    listed = e2e.run("mngr list --format '{name} {session}'").stdout
    expect(listed).to_equal("ada dev-ada\nzoe dev-zoe\n")


def test_an_unknown_key_says_the_nearest(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # set one for yourself, and for this repository
        mngr config set prefix dev-
        mngr config set --project commands.list.sort name
    """)
    result = e2e.run("mngr config set prefx dev-")
    expect(result).to_have_exit_code(2)
    expect(result.stderr).to_contain('did you mean "prefix"')


def test_a_setting_is_asked_for_explained_and_taken_back(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # ask for one, see which layer decides, and remove it again
        mngr config get prefix
        mngr config explain prefix
        mngr config unset prefix
    """)
    e2e.env.pop("MNGR_PREFIX")
    given(e2e, "mngr config set prefix dev-")
    expect(e2e.run("mngr config get prefix").stdout).to_equal("dev-\n")
    explained = e2e.run("mngr config explain prefix").stdout
    expect(explained).to_match(r'config\.toml +"dev-" +used')
    expect(explained).to_match(r"default +\"mngr-\"")
    expect(e2e.run("mngr config unset prefix")).to_succeed()
    expect(e2e.run("mngr config get prefix").stdout).to_equal("mngr-\n")


def test_a_setting_for_one_call(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # just this once
        mngr -S prefix=once- create brief -- sleep 600
    """)
    e2e.env.pop("MNGR_PREFIX")
    expect(e2e.run("mngr -S prefix=once- create brief -- sleep 600")).to_succeed()
    assert agent(e2e, "brief")["session"] == "once-brief"
    expect(e2e.run("mngr config get prefix").stdout).to_equal("mngr-\n")


def test_where_the_files_are(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # where are the files?
        mngr config path --all
    """)
    paths = e2e.run("mngr config path --all").stdout.splitlines()
    assert len(paths) == 3
    assert paths[1:] == [str(e2e.cwd / ".mngr" / name) for name in ("settings.toml", "settings.local.toml")]


def test_an_edited_file_is_checked(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # edit the file itself; it is checked afterwards
        mngr config edit
    """)
    editor = e2e.home / "editor"
    editor.write_text('#!/bin/sh\necho "$LINE" >"$1"\n')
    editor.chmod(0o755)
    good = e2e.run("mngr config edit", env={"EDITOR": str(editor), "LINE": 'prefix = "dev-"'})
    expect(good).to_succeed()
    bad = e2e.run("mngr config edit", env={"EDITOR": str(editor), "LINE": 'prefx = "dev-"'})
    expect(bad).to_fail()
    expect(bad.stderr).to_contain("prefx")


def test_a_repositorys_commands_need_trust(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a repository may name commands in its config; read them, then say that you trust them
        mngr config trust
    """)
    (e2e.cwd / ".mngr").mkdir()
    config = e2e.cwd / ".mngr" / "settings.toml"
    config.write_text('[commands.create]\nsetup = "touch set-up"\n')
    untrusted = e2e.run("mngr create one -- sleep 600")
    expect(untrusted).to_succeed()
    expect(untrusted.stderr).to_contain("mngr config trust")
    expect(e2e.run("mngr exec one -- ls set-up")).to_fail()
    expect(e2e.run("mngr config trust")).to_succeed()
    given(e2e, "mngr create two -- sleep 600", "mngr exec two -- ls set-up")
    config.write_text('[commands.create]\nsetup = "touch changed"\n')
    given(e2e, "mngr create three -- sleep 600")
    expect(e2e.run("mngr exec three -- ls changed")).to_fail()


def test_plugins_and_what_they_add(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what do plugins add?
        mngr plugin list
    """)
    result = e2e.run("mngr plugin list")
    for name in ("e2e", "tmr", "tutorial"):
        expect(result.stdout).to_match(rf"^mngr-agents +command +{name}")


@pytest.mark.e2e(record=False, shell="bash")
def test_completion_of_verbs_and_agents(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # completion of commands, options and agents' names
        eval "$(mngr completion bash)"
    """)
    given(e2e, "mngr create fix-login -- sleep 600")
    ask = 'COMP_WORDS=({words}); COMP_CWORD={at}; $function mngr; echo "${{COMPREPLY[@]}}"'
    script = (
        'eval "$(mngr completion bash)"; function=$(complete -p mngr | sed "s/.*-F \\([^ ]*\\).*/\\1/"); '
    )
    expect(e2e.run(script + ask.format(words="mngr sna", at=1)).stdout).to_match(r"\bsnapshot\b")
    expect(e2e.run(script + ask.format(words="mngr stop fix", at=2)).stdout).to_match(r"\bfix-login\b")


@pytest.mark.e2e(record=False, shell="bash")
def test_a_shell_that_we_do_not_know_is_named(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # completion of commands, options and agents' names
        eval "$(mngr completion bash)"
    """)
    result = e2e.run('eval "$(mngr completion bash)"; mngr completion tcsh')
    expect(result).to_have_exit_code(2)
    expect(result.stderr).to_contain("tcsh")
