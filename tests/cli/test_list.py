"""`mngr list`."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import ARGV, Mngr
from tests.support.world import World

from mngr import process
from mngr.actions.filter import FIELDS
from mngr.cli import schema
from mngr.testing.waiting import PATIENCE_S
from mngr_lib.safe_text import one_line


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mngr]:
    """A world with an agent that runs and one that has finished; tests leave it as it is."""
    world = World(tmp_path_factory.mktemp("two"))
    mngr = Mngr(world)
    mngr.ok("create", "foo", "--label", "task=docs", "--", "sleep", "1000")
    mngr.ok("create", "bar", "--", "sh", "-c", "sleep 0.05")
    mngr.ok("wait", "bar", "--until", "done")
    yield mngr
    world.end()


def test_an_empty_list_says_what_to_do_next(mngr: Mngr) -> None:
    done = mngr.ok("list")
    assert done.stdout == ""
    assert "mngr create NAME" in done.stderr
    assert mngr.ok("list", "--json").json["agents"] == []


@pytest.mark.accept("K1", "K7")
def test_the_table_shows_who_does_what(two: Mngr) -> None:
    header, foo, bar = two.ok("list").stdout.splitlines()
    assert header.split() == ["NAME", "STATE", "TYPE", "BRANCH", "AGE", "LABELS"]
    assert foo.split()[:4] == ["foo", "RUNNING", "command", "mngr/foo"]
    assert foo.endswith("task=docs")
    assert bar.split()[:3] == ["bar", "DONE", "(0)"]
    assert header.index("STATE") == foo.index("RUNNING") == bar.index("DONE")


@pytest.mark.accept("K1")
def test_machines_get_records(two: Mngr) -> None:
    listing = two.ok("list", "--json").json
    assert set(listing) == {"schema", "agents", "hosts", "warnings"}
    foo, bar = listing["agents"]
    assert (foo["name"], foo["state"], foo["labels"]) == ("foo", "RUNNING", {"task": "docs"})
    assert (bar["state"], bar["exit_code"], bar["signal"]) == ("DONE", 0, None)
    assert foo["attach"][0] == "tmux"
    assert two.ok("list", "--format", "jsonl").lines == listing["agents"]
    assert (
        two.ok("list", "--format", r"{name}\t{host.provider}\t{labels.task}").stdout
        == "foo\tlocal\tdocs\nbar\tlocal\t\n"
    )


def test_filters_sorting_and_fields(two: Mngr) -> None:
    assert two.ok("list", "--where", "state=DONE", "--format", "{name}").stdout == "bar\n"
    assert two.ok("list", "--where", "name~f*", "--running", "--format", "{name}").stdout == "foo\n"
    assert two.ok("list", "--label", "task=docs", "--format", "{name}").stdout == "foo\n"
    assert two.ok("list", "--sort", "name", "--format", "{name}").stdout == "bar\nfoo\n"
    assert two.ok("list", "--sort", "-name", "--limit", "1", "--format", "{name}").stdout == "foo\n"
    assert two.ok("list", "--fields", "name,host.name", "--json").json["agents"] == [
        {"name": "foo", "host.name": "local"},
        {"name": "bar", "host.name": "local"},
    ]
    assert two.ok("list", "--fields", "name,state").stdout.splitlines()[0].split() == ["NAME", "STATE"]


def test_names_choose_and_an_unknown_one_is_an_error(two: Mngr) -> None:
    assert two.ok("list", "foo", "--format", "{name}").stdout == "foo\n"
    done = two("list", "foo", "fo", "--format", "{name}")
    assert (done.code, done.stdout) == (4, "foo\n")
    assert 'no agent "fo"' in done.stderr


@pytest.mark.accept("Q7")
@pytest.mark.parametrize(
    "words",
    [
        ("--where", "stat=RUNNING"),
        ("--where", "state"),
        ("--format", "{nmae}"),
        ("--format", "{name"),
        ("--format", "jsn"),
        ("--sort", "nmae"),
        ("--fields", "name,nmae"),
        ("--limit", "0"),
        ("--limit", "x"),
        ("-S", "prefix"),
        ("-S", "nonsense=1"),
    ],
)
def test_bad_words_are_one_clear_error(mngr: Mngr, words: tuple[str, ...]) -> None:
    done = mngr("list", *words)
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert "\nhint: " in done.stderr
    assert "Traceback" not in done.stderr


def test_explain_gives_the_evidence(two: Mngr) -> None:
    told = two.ok("list", "--explain").stdout
    assert "foo: RUNNING\n  state RUNNING" in told
    assert "pane: process" in told
    assert two.ok("list", "--explain", "--json").json[0]["evidence"]


def test_hosts_and_schema(mngr: Mngr) -> None:
    assert mngr.ok("list", "--hosts").stdout.splitlines()[1].split() == ["local", "local", "RUNNING", "0"]
    assert mngr.ok("list", "--hosts", "--json").json["hosts"][0]["name"] == "local"
    fields = [line.split()[0] for line in mngr.ok("list", "--schema").stdout.splitlines()[1:]]
    assert {"id", "state", "exit_code", "host.provider"} <= set(fields)
    assert mngr.ok("list", "--schema", "--json").json["$ref"].endswith("Listing")


def test_the_schema_names_every_field_and_no_other() -> None:
    assert set(schema.FIELDS) == set(FIELDS)


@pytest.mark.accept("Q5")
def test_a_hostile_label_is_shown_harmless(mngr: Mngr) -> None:
    mngr.ok("create", "foo", "--label", "k=\x1b[31mred\n\u202eevil", "--", "sleep", "1000")
    shown = mngr.ok("list").stdout
    assert "\x1b" not in shown
    assert one_line("\x1b[31mred\n\u202eevil") in shown
    assert mngr.ok("list", "--json").json["agents"][0]["labels"] == {"k": "\x1b[31mred\n\u202eevil"}
    terminal = mngr.terminal("list", "--format", "{labels.k}")
    assert terminal.end() == 0
    assert "\x1b" not in terminal.shown


@pytest.mark.accept("K1", "U2")
def test_finished_agents_of_a_run_come_last_and_are_one_line_on_a_terminal(mngr: Mngr) -> None:
    for name in ("a1", "a2"):
        mngr.ok("create", name, "--label", "tmr.run=night", "--", "sh", "-c", "sleep 0.05")
    mngr.ok("create", "a3", "--label", "tmr.run=night", "--", "sleep", "1000")
    mngr.ok("create", "zed", "--", "sleep", "1000")
    mngr.ok("wait", "a1", "a2", "--until", "done")
    names = [line.split()[0] for line in mngr.ok("list").stdout.splitlines()[1:]]
    assert names == ["a3", "zed", "a1", "a2"]
    terminal = mngr.terminal("list", NO_COLOR="1")
    assert terminal.end() == 0
    assert "2 finished agents of run night: mngr list --label tmr.run=night" in terminal.shown
    assert "a1" not in terminal.shown
    chosen = mngr.terminal("list", "--label", "tmr.run=night", NO_COLOR="1")
    assert chosen.end() == 0
    assert "a1" in chosen.shown
    assert [agent["name"] for agent in mngr.ok("list", "--json").json["agents"]] == ["a1", "a2", "a3", "zed"]


def test_colours_are_for_terminals_that_want_them(mngr: Mngr) -> None:
    mngr.ok("create", "foo", "--", "sleep", "1000")
    coloured, plain = mngr.terminal("list"), mngr.terminal("list", NO_COLOR="1")
    assert coloured.end() == plain.end() == 0
    assert "\x1b[32mRUNNING" in coloured.shown
    assert "\x1b" not in plain.shown
    assert "\x1b" not in mngr.ok("list").stdout


@pytest.mark.accept("U2")
def test_watch_tells_changes_as_lines(mngr: Mngr) -> None:
    mngr.ok("create", "foo", "--", "sleep", "1000")
    watching = mngr.start("list", "--watch")
    assert watching.stdout
    assert b"foo: RUNNING" in watching.stdout.readline()
    mngr.ok("stop", "foo")
    assert b"foo: RUNNING -> STOPPED" in watching.stdout.readline()
    mngr.ok("destroy", "foo", "-y")
    assert b"-> gone" in watching.stdout.readline()
    watching.send_signal(signal.SIGINT)
    assert watching.wait(PATIENCE_S) == 130
    watching.communicate()


@pytest.mark.accept("U2")
def test_watch_redraws_a_terminal_and_marks_who_needs_me(mngr: Mngr) -> None:
    mngr.ok("create", "foo", "--", "sh", "-c", "sleep 0.2; exit 3", "x")
    terminal = mngr.terminal("list", "--watch")
    terminal.wait_for("DONE (3)")
    terminal.wait_for("1 marked >")
    terminal.type("\x03")
    assert terminal.end() == 130


def test_no_current_directory_is_said(mngr: Mngr, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    go = "import os, sys; os.rmdir(os.getcwd()); sys.argv[1:] = ['list']; "
    script = go + "from mngr.__main__ import main; sys.exit(main())"
    ran = process.run([ARGV[0], "-c", script], cwd=str(gone), env=process.OnlyEnv(mngr.env))
    assert ran.code == 2
    assert b"current directory no longer exists" in ran.stderr
