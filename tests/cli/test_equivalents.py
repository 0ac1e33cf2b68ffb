"""What people type who know other tools or the first mngr: it works, or the answer says what to type."""

import re

import pytest
from tests.cli.command import Mngr

from mngr.cli.app import app
from mngr.cli.commands import ALIASES, COMMANDS
from mngr.cli.shipped import read_equivalents

SLEEP = ("--", "sleep", "1000")


def test_the_table_names_what_is_unknown_and_hints_at_what_exists() -> None:
    context = app.make_context("mngr", ["list"])
    for word, hint in read_equivalents().items():
        verb, _, option = word.partition(" ")
        if option:
            command = app.get_command(context, verb)
            assert command, word
            assert option not in [word for param in command.params for word in param.opts], word
        else:
            assert verb not in {*COMMANDS, *ALIASES}, word
        for named in re.findall(r"mngr (\w+)", hint):
            assert named in COMMANDS or named == "command", hint


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("status",), "mngr list"),
        (("schedule",), "cron or a systemd timer"),
        (("create", "x", "--remote"), "the address says where: mngr create NAME@.docker"),
        (("list", "--include", "state"), "--where 'state=RUNNING'"),
        # Nothing near: no unrelated option is suggested.
        (("list", "--incl"), "see: mngr list --help"),
        (("create", "--rewind"), "see: mngr create --help"),
    ],
)
def test_the_hint_is_true_or_says_where_to_look(mngr: Mngr, words: tuple[str, ...], hint: str) -> None:
    done = mngr(*words)
    assert (done.code, done.stdout) == (2, "")
    assert f"\nhint: {hint}" in done.stderr


def test_exec_takes_a_line_for_the_shell_and_refuses_an_option_in_place_of_a_program(mngr: Mngr) -> None:
    mngr.ok("create", "foo", *SLEEP)
    assert mngr.ok("exec", "foo", "printf 'a\\nb\\n' | tail -1").stdout == "b\n"
    assert mngr.ok("exec", "foo", "--", "echo $((1+1))").stdout == "2\n"
    done = mngr("exec", "foo", "--timeout", "30", "ls")
    assert (done.code, done.stdout) == (2, "")
    assert '"--timeout" stands where the command begins' in done.stderr
    assert "options come before the agent" in done.stderr


def test_setup_and_template_are_repeatable_and_in_order(mngr: Mngr) -> None:
    mngr.world.host_dir.mkdir()
    (mngr.world.host_dir / "config.toml").write_text(
        '[templates.a]\nlabel = ["x=1", "y=1"]\nproject = "pa"\n\n[templates.b]\nlabel = "x=2"\nsetup = "echo b >b"\n'
    )
    mngr.ok("create", "foo", "--setup", "echo one >>said", "--setup", "echo two >>said", *SLEEP)
    assert mngr.ok("exec", "foo", "--", "cat", "said").stdout == "one\ntwo\n"
    mngr.ok("create", "bar", "-t", "a", "-t", "b", *SLEEP)
    bar = mngr.ok("list", "bar", "--json").json["agents"][0]
    assert (bar["labels"], bar["project"]) == ({"x": "2", "y": "1"}, "pa")
    assert mngr.ok("exec", "bar", "--", "cat", "b").stdout == "b\n"
    failed = mngr("create", "baz", "--setup", "exit 3", "--setup", "touch second", *SLEEP)
    assert failed.code == 1
    assert "failed with exit code 3" in failed.stderr


def test_an_agent_made_from_an_agent_belongs_to_its_project(mngr: Mngr) -> None:
    mngr.ok("create", "foo", "--project", "shop", "--transfer", "none", *SLEEP)
    mngr.ok("create", "bar", "--from", "foo", *SLEEP)
    assert mngr.ok("list", "--fields", "name,project", "--format", "{name} {project}").stdout == (
        "foo shop\nbar shop\n"
    )


def test_a_default_that_no_call_would_take_is_not_set_and_doctor_finds_it(mngr: Mngr) -> None:
    for key, near in {"list.activ": "known: ", "lst.running": 'did you mean "list"?'}.items():
        done = mngr("config", "set", f"commands.{key}", "true")
        assert (done.code, done.stdout) == (2, "")
        assert near in done.stderr
        assert "wants_" not in done.stderr, "names of variables are no options"
    mngr.ok("config", "set", "commands.list.running", "true")
    mngr.ok("config", "set", "--scope", "local", "commands.list.limit", "3")
    assert "settings.local.toml" in mngr.ok("config", "explain", "commands.list.limit").stdout
    (mngr.world.host_dir / "config.toml").write_text("[commands.list]\nactive = true\n")
    (found,) = [line for line in mngr("doctor").stdout.splitlines() if "active" in line and "config:" in line]
    assert found.startswith("missing  config: ")


def test_snapshots_are_part_of_a_pipe_and_of_an_agent_that_exists(mngr: Mngr) -> None:
    for name in ("foo", "bar"):
        mngr.ok("create", name, *SLEEP)
    assert mngr("snapshot", "list", "nosuch").code == 4
    assert mngr.ok("snapshot", "list", "foo", "--json").json == []
    mngr.ok("snapshot", "create", "foo", "--name", "mine")
    made = mngr.ok("snapshot", "create", "-", stdin="foo\nbar\n").lines
    assert sorted(line["agent_name"] for line in made) == ["bar", "foo"]
    assert mngr("snapshot", "create", "-", "same", stdin="foo\nbar\n").code == 2
    names = [one["name"] for one in mngr.ok("snapshot", "list", "-", "--json", stdin="foo\n").json]
    assert names == ["mine", "foo-1"]
    mngr.ok("destroy", "foo", "--yes")
    assert "mine" in mngr.ok("snapshot", "list", "foo").stdout, "it outlives its agent"


def test_a_message_may_be_the_last_word_and_ids_stand_alone(mngr: Mngr) -> None:
    mngr.ok("create", "foo", "--", "sh", "-c", 'while read -r x; do echo "$x" >>got; done')
    mngr.ok("message", "foo", "go on")
    mngr.ok("exec", "foo", "until grep -q 'go on' got; do sleep 0.05; done")
    (agent,) = mngr.ok("list", "--json").json["agents"]
    assert mngr.ok("list", "--ids").stdout == f"{agent['id']}\n"
