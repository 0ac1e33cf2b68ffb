"""The other verbs, as a person and as a machine meet them."""

from pathlib import Path

import pytest
from tests.cli.command import Mngr

from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S

COMMIT = "echo x >new; git add new; git -c user.name=a -c user.email=a@b commit -qm new"


@pytest.fixture
def foo(mngr: Mngr) -> Mngr:
    mngr.ok("create", "foo", "--", "sh", "-c", 'echo ready; while read -r x; do echo "got $x"; done')
    return mngr


@pytest.mark.accept("K1")
def test_exec_gives_the_commands_own_output_and_code(foo: Mngr) -> None:
    done = foo("exec", "foo", "--", "sh", "-c", "printf out; printf err >&2; exit 7")
    assert (done.code, done.stdout, done.stderr) == (7, "out", "err")
    assert foo.ok("exec", "foo", "echo", "-n", "--json").stdout == "--json"
    assert (
        foo.ok("exec", "foo", "pwd").stdout.strip() == foo.ok("list", "--format", "{work_dir}").stdout.strip()
    )
    assert foo.ok("exec", "-i", "foo", "--", "cat", stdin=b"\x00\xff\n").stdout.startswith("\x00")
    assert foo("exec", "foo", "--timeout", "0.3", "--", "sleep", "1000").code == 124
    assert foo("exec", "foo", "--").code == 2
    assert foo("exec", "foo", "--", "sh", "-c", "kill -9 $$").code == 137


@pytest.mark.accept("K1")
def test_exec_on_several_tells_them_apart(foo: Mngr) -> None:
    foo.ok("create", "bar", "--", "sleep", "1000")
    done = foo("exec", "--all", "--", "sh", "-c", 'echo "$MNGR_AGENT_NAME"; test "$MNGR_AGENT_NAME" = foo')
    assert done.code == 3
    assert sorted(done.stdout.split()) == ["bar", "foo"]
    assert "==> foo (exit code 0) <==" in done.stderr
    report = foo("exec", "foo", "bar", "--format", "jsonl", "--", "sh", "-c", "echo hi; exit 1")
    assert report.code == 1
    assert [(line["code"], line["stdout"]) for line in report.lines] == [(1, "hi\n"), (1, "hi\n")]


@pytest.mark.accept("K1", "K8")
def test_message_has_a_receipt(foo: Mngr) -> None:
    assert foo.ok("message", "foo", "-m", "one").stdout.startswith("Delivered to foo")
    assert foo.ok("msg", "foo", "--json", stdin="two\n").json["receipt"]["status"] == "delivered"
    assert wait_until(lambda: "got two" in foo("capture", "foo").stdout, PATIENCE_S)
    assert foo("message", "foo", stdin="").code == 2
    assert foo("message", "foo", "-m", "x" * 70000).code == 2
    foo.ok("stop", "foo")
    assert foo("message", "foo", "-m", "hello").code == 6


@pytest.mark.accept("K1")
def test_wait_prints_each_as_it_happens(mngr: Mngr) -> None:
    mngr.ok("create", "slow", "--", "sleep", "1000")
    mngr.ok("create", "quick", "--", "sh", "-c", "sleep 0.2; exit 0")
    assert mngr.ok("wait", "quick").stdout == "quick: DONE (0)\n"
    timed_out = mngr("wait", "slow", "--timeout", "0.3s", "--json")
    assert timed_out.code == 124
    assert timed_out.json["error"]["exit_code"] == 124
    assert mngr("wait", "slow", "quick", "--timeout", "0.3").code == 3
    assert mngr("wait", "slow", "quick", "--any", "--timeout", "20").code == 0
    never = mngr("wait", "quick", "--until", "waiting", "--json")
    assert never.code == 1
    assert (never.json["state"], never.json["reached"]) == ("DONE", False)
    assert mngr("wait", "quick", "--until", "whenever").code == 2
    assert mngr.ok("wait", "slow", "--until", "state=RUNNING").stdout == "slow: RUNNING\n"


@pytest.mark.accept("K1")
def test_capture_shows_the_terminal(foo: Mngr) -> None:
    assert wait_until(lambda: foo("capture", "foo").stdout, PATIENCE_S)
    assert foo.ok("capture", "foo").stdout.splitlines()[0] == "ready"
    assert foo.ok("logs", "foo", "--json").json["screen"].startswith("ready")
    foo.ok("create", "hostile", "--", "sh", "-c", "printf '\\033]0;evil\\007plain'; sleep 1000")
    assert "\x1b" not in foo.ok("capture", "hostile", "--full").stdout
    foo.ok("create", "lines", "--", "sh", "-c", "for i in 1 2 3; do echo line $i; sleep 0.1; done")
    assert foo.ok("capture", "lines", "--follow").stdout.split("\n")[:3] == ["line 1", "line 2", "line 3"]
    assert foo("capture", "foo", "--cast").code == 4
    foo.ok("create", "taped", "--record", "--", "sh", "-c", "echo on tape; sleep 1000")
    assert wait_until(lambda: "on tape" in foo("capture", "taped", "--cast").stdout, PATIENCE_S)


@pytest.mark.accept("K1")
def test_events_tell_the_life(foo: Mngr) -> None:
    foo.ok("stop", "foo")
    kinds = foo.ok("events", "foo", "--format", "{kind}").stdout.split()
    assert kinds[0] == "creating"
    assert kinds[-1] == "stopped"
    assert foo.ok("events", "foo").stdout.count("\n") == len(kinds)
    assert foo.ok("events", "-", stdin="foo").lines[0]["events"][-1]["kind"] == "stopped"
    following = foo.start("events", "foo", "--follow", "--format", "{kind}")
    assert following.stdout
    for kind in kinds:
        assert following.stdout.readline().decode().strip() == kind
    foo.ok("label", "foo", "a=b")
    assert following.stdout.readline() == b"labelled\n"
    foo.ok("destroy", "foo", "-y")
    assert following.wait(PATIENCE_S) == 0
    following.communicate()


def test_a_plain_command_has_no_conversation(foo: Mngr) -> None:
    done = foo("transcript", "foo")
    assert done.code == 2
    assert "mngr capture foo" in done.stderr


@pytest.mark.accept("K1")
def test_rename_and_label(foo: Mngr) -> None:
    assert foo.ok("rename", "foo", "bar", "--dry-run").stdout == "Would rename foo to bar\n"
    assert foo.ok("mv", "foo", "bar").stdout == "Renamed to bar\n"
    assert foo("rename", "bar", "-x").code == 2
    assert foo.ok("label", "bar", "a=1", "b=2").stdout == "Labelled bar: a=1,b=2\n"
    assert foo.ok("label", "bar", "--remove", "a", "--json").json["labels"] == {"b": "2"}
    assert foo("label", "bar").code == 2
    assert foo.ok("label", "--all", "c=3").stdout == "Labelled bar: b=2,c=3\n"


@pytest.mark.accept("K1")
def test_pull_brings_commits_and_files(foo: Mngr, tmp_path: Path) -> None:
    foo.ok("exec", "foo", "--", "sh", "-c", COMMIT + '; echo note >"$MNGR_OUTBOX/note"; echo log >run.log')
    assert foo.ok("pull", "foo").code == 0
    assert foo.world.git("show", "mngr/foo:new") == "x\n"
    assert not (foo.world.repo / "new").exists()
    foo.ok("pull", "foo", "--ff-only")
    assert (foo.world.repo / "new").exists()
    there = tmp_path / "there"
    assert "note" in foo.ok("pull", "foo", "--outbox", "--to", str(there)).stdout
    assert (there / "foo/note").read_text() == "note\n"
    assert foo.ok("pull", "foo", "--files", "*.log", "new", "--to", str(there), "--json").json["files"]
    assert (there / "run.log").read_text() == "log\n"
    for words in (
        ("--outbox",),
        ("--to", "x"),
        ("--outbox", "--files", "x", "--to", "y"),
        ("--merge", "--outbox", "--to", "x"),
    ):
        assert foo("pull", "foo", *words).code == 2, words


@pytest.mark.accept("K1")
def test_push_brings_commits_and_files(foo: Mngr) -> None:
    (foo.world.repo / "more.txt").write_text("more\n")
    foo.world.git("add", ".")
    foo.world.git("commit", "-q", "-m", "more")
    foo.ok("push", "foo")
    assert foo.ok("exec", "foo", "--", "cat", "more.txt").stdout == "more\n"
    (foo.world.repo / "data").write_text("data\n")
    foo.ok("push", "foo", "--files", "data")
    assert foo.ok("exec", "foo", "--", "cat", "data").stdout == "data\n"


@pytest.mark.accept("K1")
def test_clone_makes_a_second_one(foo: Mngr) -> None:
    foo.ok("exec", "foo", "--", "sh", "-c", COMMIT)
    assert foo.ok("clone", "foo", "twin", "--dry-run").stdout == "Would clone foo as twin\n"
    made = foo.ok("clone", "foo", "twin", "--json").json
    assert (made["name"], made["state"], made["changed"]) == ("twin", "RUNNING", True)
    assert foo.ok("exec", "twin", "--", "cat", "new").stdout == "x\n"


@pytest.mark.accept("K1", "K2")
def test_migrate_moves_agents_elsewhere(foo: Mngr) -> None:
    foo.ok("exec", "foo", "--", "sh", "-c", COMMIT)
    assert foo.ok("migrate", "foo", "@.faulty", "--dry-run").stdout == "Would move to @.faulty: foo\n"
    moved = foo.ok("migrate", "foo", "bar@.faulty", "--json").json
    assert (moved["name"], moved["host"]["provider"], moved["changed"]) == ("bar", "faulty", True)
    (line,) = foo.ok("migrate", "-", "@local", stdin='{"name": "bar", "mine": 1}\n').lines
    assert (line["name"], line["host"]["provider"], line["mine"]) == ("bar", "local", 1)
    assert foo.ok("exec", "bar", "--", "cat", "new").stdout == "x\n"
    assert [agent["name"] for agent in foo.ok("list", "--json").json["agents"]] == ["bar"]
    assert foo("migrate", "bar", "box").code == 2
    assert foo("migrate", "bar", "baz", "one@.faulty").code == 2


@pytest.mark.accept("K1")
def test_snapshots_come_and_go(foo: Mngr) -> None:
    assert foo.ok("snapshot", "create", "my-snapshot").stdout == "Snapshot my-snapshot of foo\n"
    foo.ok("exec", "foo", "--", "sh", "-c", "echo spoiled >file.txt")
    assert [line["name"] for line in foo.ok("snapshot", "list", "foo", "--json").json] == ["my-snapshot"]
    assert "my-snapshot" in foo.ok("snapshot", "list").stdout
    foo.ok("snapshot", "restore", "my-snapshot")
    assert foo.ok("exec", "foo", "--", "cat", "file.txt").stdout == "one\n"
    assert foo("snapshot", "destroy", "my-snapshot").code == 6
    foo.ok("snapshot", "destroy", "my-snapshot", "--yes")
    assert foo("snapshot", "destroy", "my-snapshot", "--yes").code == 4
    assert foo("snapshot", "creat").code == 2


@pytest.mark.accept("K1")
def test_connect_attaches_a_terminal(foo: Mngr) -> None:
    terminal = foo.terminal("connect", "foo")
    terminal.wait_for("ready")
    terminal.type("hello\r")
    terminal.wait_for("got hello")
    terminal.type("\x11")
    assert terminal.end() == 0
    nested = foo("connect", "foo", TMUX="/x,1,0")
    assert nested.code == 6
    assert "inside tmux" in nested.stderr
    assert foo("connect", "foo").code == 2
    assert foo("connect", "nobody").code in (2, 4)


@pytest.mark.accept("K1")
def test_connect_without_a_name_asks(foo: Mngr) -> None:
    foo.ok("create", "bar", "--", "sh", "-c", "echo I am bar; sleep 1000")
    terminal = foo.terminal("connect")
    terminal.wait_for("Number or name:")
    terminal.type("2\r")
    terminal.wait_for("I am bar")
    terminal.type("\x11")
    assert terminal.end() == 0
    foo.ok("stop", "bar")
    stopped = foo.terminal("connect", "bar")
    stopped.wait_for("bar is stopped. Start it?")
    stopped.type("y\r")
    stopped.wait_for("I am bar")
    stopped.type("\x11")
    assert stopped.end() == 0
