"""`mngr create`."""

import signal
from pathlib import Path

import pytest
from tests.cli.command import Mngr

from mngr.actions.create.create import create
from mngr.actions.create.request import COMMAND_OPTIONS, request_keys
from mngr.cli.commands.create import command
from mngr.cli.verb import option_names
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S

SLEEP = ("--", "sleep", "1000")


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def shows(mngr: Mngr, name: str, text: str) -> bool:
    assert wait_until(lambda: text in mngr("capture", name).stdout, PATIENCE_S), mngr("capture", name)
    return True


@pytest.mark.accept("K1")
def test_a_person_reads_what_was_made_and_how_to_attach(mngr: Mngr) -> None:
    done = mngr.ok("create", "foo", *SLEEP)
    assert done.stdout == "Created foo (RUNNING) on branch mngr/foo\n"
    assert done.stderr == "attach: mngr connect foo\n"
    assert mngr.ok("create", "bar", "-q", *SLEEP).stderr == ""


@pytest.mark.accept("K1")
def test_a_machine_gets_the_record(mngr: Mngr) -> None:
    made = mngr.ok("create", "foo", "--label", "a=b", "--env", "X=$(id)", "--json", *SLEEP).json
    assert (made["name"], made["state"], made["changed"], made["labels"]) == (
        "foo",
        "RUNNING",
        True,
        {"a": "b"},
    )
    assert mngr.ok("exec", "foo", "--", "printenv", "X").stdout == "$(id)\n"
    again = mngr.ok("create", "foo", "--reuse", "--json", *SLEEP).json
    assert (again["id"], again["changed"]) == (made["id"], False)


def test_a_dry_run_makes_nothing(mngr: Mngr) -> None:
    done = mngr.ok("create", "foo", "--dry-run", *SLEEP)
    assert done.stdout.startswith("Would create foo on local: sleep 1000 (worktree of ")
    assert mngr.world.left_behind() == []
    assert mngr.ok("create", "foo", "--dry-run", "--json", *SLEEP).json["changed"] is False
    line = mngr.ok("create", "-", "--dry-run", stdin='{"name": "x", "args": ["true"], "task": 1}').lines
    assert (line[0]["name"], line[0]["changed"], line[0]["task"]) == ("x", False, 1)
    assert mngr.world.left_behind() == []


@pytest.mark.accept("Q7", "K17")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("-bad", *SLEEP), 2),
        (("a b", *SLEEP), 2),
        (("x" * 64, *SLEEP), 2),
        (("../up", *SLEEP), 2),
        (("foo@.modla", *SLEEP), 2),
        (("foo@", *SLEEP), 2),
        (("foo", "nonsense"), 2),
        (("foo",), 2),
        (("foo", "--env", "X", *SLEEP), 2),
        (("foo", "--label", "X", *SLEEP), 2),
        (("foo", "-w", "X", *SLEEP), 2),
        (("foo", "--transfer", "teleport", *SLEEP), 2),
        (("foo", "--timeout", "soon", *SLEEP), 2),
        (("foo", "--image", "debian", *SLEEP), 2),
        (("foo", "--template", "none", *SLEEP), 2),
        (("foo", "scripted", "--type", "command", *SLEEP), 2),
        (("foo", "-m", "a", "--message-file", "b", *SLEEP), 2),
        (("foo", "--message-file", "/nowhere", *SLEEP), 2),
        (("foo", "--from", "/nowhere", *SLEEP), 2),
        (("foo", "--connect", *SLEEP), 2),
        (("foo", "--", "no-such-program-anywhere"), 1),
    ],
)
def test_bad_words_leave_nothing(mngr: Mngr, words: tuple[str, ...], code: int) -> None:
    done = mngr("create", *words)
    assert (done.code, done.stdout) == (code, ""), done
    assert done.stderr.startswith("error: ")
    assert "\nhint: " in done.stderr
    assert mngr.world.left_behind() == []


@pytest.mark.accept("K16")
def test_a_program_that_dies_at_once_is_an_error_with_its_words_and_code(mngr: Mngr) -> None:
    done = mngr("create", "foo", "--json", "--", "sh", "-c", "echo no luck; exit 7")
    assert done.code == 1
    assert (done.json["state"], done.json["exit_code"]) == ("DONE", 7)
    assert "exit code 7" in done.json["error"]["message"]
    assert "no luck" in done.stderr
    assert "mngr destroy foo" in done.stderr


@pytest.mark.accept("K1")
@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("echo one; sleep 0.1; echo two; exit 7", 7),
        ("echo one; echo two", 0),
        ("echo one; echo two; kill -TERM $$", 143),
    ],
)
def test_in_the_foreground_the_lines_and_the_code_are_the_programs(
    mngr: Mngr, program: str, code: int
) -> None:
    done = mngr("create", "--foreground", "--", "sh", "-c", program)
    assert (done.code, done.stdout.split()) == (code, ["one", "two"])


@pytest.mark.accept("K4")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_in_the_middle_leaves_nothing(
    mngr: Mngr, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    mark = tmp_path / "setting-up"
    running = mngr.start("create", "foo", "--setup", f"touch '{mark}'; sleep 1000", *SLEEP)
    assert wait_until(mark.exists, PATIENCE_S)
    running.send_signal(number)
    assert running.wait(PATIENCE_S) == code
    running.communicate()
    assert mngr.world.left_behind() == []


@pytest.mark.accept("K4")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_after_the_launch_keeps_the_agent_and_says_so(
    mngr: Mngr, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    mark, plugin = tmp_path / "created", tmp_path / "plugin"
    info = plugin / "slow-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slow\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[mngr.hooks]\nslow = slow_hook:Slow\n")
    (plugin / "slow_hook.py").write_text(
        "import pathlib, time, mngr\nclass Slow:\n    @mngr.hookimpl\n    def after_create(self, agent):\n"
        f"        pathlib.Path({str(mark)!r}).touch()\n        time.sleep(1000)\n"
    )
    running = mngr.start("create", "foo", *SLEEP, PYTHONPATH=str(plugin))
    assert wait_until(mark.exists, PATIENCE_S)
    running.send_signal(number)
    out, err = running.communicate(timeout=PATIENCE_S)
    note = 'note: "foo" was created and runs; to remove it: mngr destroy foo\n'
    assert (running.returncode, out.decode(), err.decode()) == (code, "", note)
    assert mngr.ok("list", "--format", "{name} {state}").stdout == "foo RUNNING\n"
    mngr.ok("destroy", "foo", "--yes")
    assert mngr.world.left_behind() == []


@pytest.mark.accept("K1")
def test_the_config_sets_defaults_and_flags_win(mngr: Mngr) -> None:
    folder = mngr.world.host_dir
    folder.mkdir()
    (folder / "config.toml").write_text(
        '[commands.create]\nlabels = { team = "blue" }\nenv = ["A=1"]\nproject = "p"\n'
        '[commands.list]\nformat = "{name} {project}"\n'
        '[templates.big]\nlabel = "size=big"\nproject = "q"\nargs = ["sleep", "61"]\n'
    )
    made = mngr.ok("create", "foo", "--json", *SLEEP).json
    assert (made["labels"], made["project"]) == ({"team": "blue"}, "p")
    assert mngr.ok("exec", "foo", "--", "printenv", "A").stdout == "1\n"
    made = mngr.ok("create", "bar", "--json", "--label", "x=y", "--project", "r", *SLEEP).json
    assert (made["labels"], made["project"]) == ({"team": "blue", "x": "y"}, "r")
    made = mngr.ok("create", "baz", "--json", "-t", "big").json
    assert (made["labels"], made["project"]) == ({"team": "blue", "size": "big"}, "q")
    made = mngr.ok(
        "create", "qux", "--json", "-t", "big", "--project", "r", "-S", "commands.create.record=true"
    ).json
    assert made["project"] == "r"
    assert mngr.ok("list").stdout == "foo p\nbar r\nbaz q\nqux r\n"


@pytest.mark.accept("K1", "K3")
def test_a_template_says_the_same_to_the_command_line_a_line_and_python(mngr: Mngr) -> None:
    mngr.world.host_dir.mkdir()
    (mngr.world.host_dir / "config.toml").write_text(
        '[templates."a.b"]\nlabel = ["x=1", "y=2"]\nenv = "A=1"\nargs = ["sleep", "61"]\nconnect = false\n'
    )
    mngr.ok("create", "words", "-t", "a.b")
    mngr.ok("create", "-", stdin='{"name": "line", "template": "a.b"}\n')
    create("python", template="a.b", labels={"y": "3"}, manager=mngr.world.manager())
    agents = {agent["name"]: agent for agent in mngr.ok("list", "--json").json["agents"]}
    assert agents["words"]["labels"] == agents["line"]["labels"] == {"x": "1", "y": "2"}
    assert agents["python"]["labels"] == {"x": "1", "y": "3"}
    for name in agents:
        assert mngr.ok("exec", name, "--", "printenv", "A").stdout == "1\n"


def test_a_template_may_set_each_option_of_the_command() -> None:
    assert set(option_names(command)) - set(request_keys()) == COMMAND_OPTIONS


@pytest.mark.accept("Q7")
@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("[commands.create]\nconect_command = 'x'\n", "connect_command"),
        ("[commands.crate]\nx = 1\n", "create"),
        ("[comands]\n", "commands"),
        ("[templates.t]\nbrnch = 'x'\n", "branch"),
    ],
)
def test_an_unknown_config_key_names_the_nearest(mngr: Mngr, text: str, near: str) -> None:
    mngr.world.host_dir.mkdir()
    (mngr.world.host_dir / "config.toml").write_text(text)
    done = mngr("create", "foo", "-t", "t", *SLEEP)
    assert done.code == 2
    assert near in done.stderr
    assert mngr.world.left_behind() == []


@pytest.mark.accept("F12", "F16")
def test_a_connect_command_gets_the_identity_and_does_not_recurse(mngr: Mngr, tmp_path: Path) -> None:
    told = tmp_path / "told"
    said = f"env | grep ^MNGR_ >'{told}'; echo called >>'{told}'"
    connect = script(tmp_path / "my-connect", f"{said}; python -m mngr connect foo; exit 9")
    mngr.world.host_dir.mkdir()
    (mngr.world.host_dir / "config.toml").write_text(f"[commands.create]\nconnect_command = '{connect}'\n")
    done = mngr("create", "foo", *SLEEP)
    assert done.code == 9
    assert "connect needs a terminal" in done.stderr
    words = dict(line.partition("=")[::2] for line in told.read_text().splitlines())
    record = mngr.ok("list", "--json").json["agents"][0]
    assert words["MNGR_AGENT_ID"] == record["id"]
    assert words["MNGR_SESSION_NAME"] == record["session"]
    assert words["MNGR_HOST_IS_LOCAL"] == "1"
    assert words["MNGR_ATTACH_ARGV"].startswith('["tmux"')
    assert told.read_text().count("called") == 1
    assert mngr("connect", "foo").code == 9
    assert mngr("create", "bar", "--no-connect", *SLEEP).code == 0


@pytest.mark.accept("K18")
def test_a_strangers_connect_command_runs_only_after_trust(mngr: Mngr, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    (mngr.world.repo / ".mngr").mkdir()
    (mngr.world.repo / ".mngr/settings.toml").write_text(
        f"[commands.create]\nconnect_command = \"touch '{mark}'\"\n"
    )
    done = mngr.ok("create", "foo", *SLEEP)
    assert not mark.exists()
    assert "mngr config trust" in done.stderr
    mngr.ok("config", "trust")
    mngr.ok("create", "bar", *SLEEP)
    assert mark.exists()


def test_the_first_message_comes_from_stdin_a_file_or_the_editor(mngr: Mngr, tmp_path: Path) -> None:
    reads = ("--", "sh", "-c", 'read -r x; echo "got $x"; sleep 1000')
    editor = script(tmp_path / "editor", 'echo edited >"$1"')
    mngr.ok("create", "a", "--message-file", "-", *reads, stdin="piped")
    mngr.ok("create", "b", "--edit-message", *reads, EDITOR=str(editor))
    mngr.ok("create", "c", "-m", "worded", *reads)
    assert [
        shows(mngr, name, f"got {word}") for name, word in (("a", "piped"), ("b", "edited"), ("c", "worded"))
    ]


def test_on_a_terminal_it_attaches(mngr: Mngr) -> None:
    terminal = mngr.terminal("create", "foo", "--", "sh", "-c", "echo hello from inside; sleep 1000")
    terminal.wait_for("hello from inside")
    terminal.type("\x11")
    assert terminal.end() == 0
    inside = mngr.terminal("create", "bar", *SLEEP, TMUX="/x,1,0")
    assert inside.end() == 0
    assert "attach: mngr connect bar" in inside.shown
