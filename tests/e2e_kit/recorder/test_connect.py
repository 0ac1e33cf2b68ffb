"""`mngr create` with the connect command that records."""

import os
import subprocess
from functools import partial
from pathlib import Path

import pytest
from tests.e2e_kit.recorder.conftest import Studio

from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S
from mngr_e2e.recorder import asciinema
from mngr_e2e.recorder.connect import main
from mngr_e2e.recorder.stop import stop_recorders

# A disk that takes this many blocks of a file; Python would leave half a compiled module in its cache.
LIMITED = "export PYTHONDONTWRITEBYTECODE=1; ulimit -f {}; mngr-e2e-connect"


def _shows(studio: Studio, cast: str, words: str) -> bool:
    return words in studio.shown(cast)


@pytest.mark.accept("F12", "F13", "F14", "F15")
def test_create_without_a_terminal_records_the_agents_screen(either: Studio) -> None:
    assert either.agent("foo", "printf 'hello-from-%s\\n' agent; sleep 0.3; echo späť") == ""
    assert wait_until(lambda: "späť" in either.shown("1-foo.cast"), PATIENCE_S)
    assert either.recorders()
    assert stop_recorders(either.artifacts) == []
    assert either.recorders() == []
    cast = either.cast("1-foo.cast")
    assert cast.is_complete
    assert cast.size == (120, 32)
    assert 0 < cast.duration_s < PATIENCE_S
    assert "hello-from-agent" in either.shown("1-foo.cast")
    assert sorted(os.listdir(either.casts)) == ["1-foo.cast", "index.jsonl"]
    assert os.listdir(either.world.home) == []
    assert "RUNNING" in either.ok("list").stdout


@pytest.mark.accept("F14")
def test_two_agents_at_once_get_a_cast_each(either: Studio) -> None:
    words = ("create", "{}", "--", "sh", "-c", "echo this-is-{}; exec sleep 1000")
    started = [either.start(*(word.format(name) for word in words)) for name in ("one", "two")]
    for child in started:
        assert child.communicate(timeout=PATIENCE_S)[1] == b""
        assert child.returncode == 0
    casts = {path.name.partition("-")[2]: path.name for path in either.casts.glob("*.cast")}
    assert sorted(casts) == ["one.cast", "two.cast"]
    assert sorted(name[0] for name in casts.values()) == ["1", "2"]
    for name in ("one", "two"):
        assert wait_until(partial(_shows, either, casts[f"{name}.cast"], f"this-is-{name}"), PATIENCE_S)
    assert "this-is-two" not in either.shown(casts["one.cast"])


@pytest.mark.accept("F14")
def test_destroying_the_agent_ends_its_recording_with_a_whole_file(either: Studio) -> None:
    either.agent("foo", "echo hello")
    assert wait_until(lambda: "hello" in either.shown("1-foo.cast"), PATIENCE_S)
    either.ok("destroy", "foo", "--force")
    assert wait_until(lambda: not either.recorders(), PATIENCE_S)
    assert either.cast("1-foo.cast").is_complete
    assert not (either.casts / "1-foo.cast.error").exists()


@pytest.mark.accept("F14")
def test_the_recorder_is_noted_for_teardown_and_belongs_to_no_agent_and_no_terminal(either: Studio) -> None:
    either.agent("foo", "echo hello")
    noted = [int(name) for name in os.listdir(either.casts / ".recorders") if name.isdecimal()]
    assert [os.getsid(pid) for pid in noted] == noted
    assert os.readlink(f"/proc/{noted[0]}/fd/0") == "/dev/null"
    environments = [Path(f"/proc/{pid}/environ").read_bytes() for pid in either.recorders()]
    assert not any(b"MNGR_AGENT_ID=" in environment for environment in environments)


@pytest.mark.accept("F12")
def test_the_size_of_the_terminal_can_be_chosen(either: Studio) -> None:
    either.connect_with("mngr-e2e-connect --size 70x11")
    either.agent("foo", 'until [ "$(stty size)" = "11 70" ]; do sleep 0.1; done; echo resized')
    assert wait_until(lambda: "resized" in either.shown("1-foo.cast"), PATIENCE_S)
    assert either.cast("1-foo.cast").size == (70, 11)


@pytest.mark.accept("F14")
def test_a_cast_that_cannot_be_written_on_is_whole_with_an_error_file_beside_it(either: Studio) -> None:
    either.connect_with(LIMITED.format(1))
    either.agent("foo", "seq 1000; sleep 0.5; seq 1000")
    stop_recorders(either.artifacts)
    reason = (either.casts / "1-foo.cast.error").read_text()
    assert reason.startswith(
        ("asciinema ended with", "[Errno 27] File too large", "the last line could not be")
    )
    assert either.cast("1-foo.cast").is_complete
    assert "RUNNING" in either.ok("list").stdout


@pytest.mark.accept("F14")
def test_a_disk_that_takes_nothing_leaves_no_recorder_behind(either: Studio) -> None:
    either.connect_with(LIMITED.format(0))
    assert "warning: the agent's terminal is not recorded" in either.agent("foo", "echo hello")
    assert either.recorders() == []


@pytest.mark.accept("F14")
def test_an_agent_that_is_gone_is_a_warning_and_an_error_file(either: Studio) -> None:
    either.ok("create", "foo", "--no-connect", "--", "sleep", "1000")
    either.connect_with('MNGR_ATTACH_ARGV=$(echo "$MNGR_ATTACH_ARGV" | sed s/-foo/-gone/) mngr-e2e-connect')
    assert either.ok("connect", "foo").stderr == (
        "warning: the agent's terminal is not recorded: can't find session: mngr-gone\n"
    )
    assert (either.casts / "1-foo.cast.error").read_text() == "can't find session: mngr-gone\n"
    assert either.recorders() == []


@pytest.mark.accept("F14")
def test_an_asciinema_that_breaks_does_not_fail_the_create(studio: Studio) -> None:
    studio.instead_of_asciinema(
        '[ "$1" = --version ] && echo asciinema 2.4.0 && exit; echo "no such luck" >&2; exit 3'
    )
    said = studio.agent("foo", "echo hello")
    assert "warning: the agent's terminal is not recorded: asciinema ended with code 3\nno such luck" in said
    assert "no such luck" in (studio.casts / "1-foo.cast.error").read_text()
    assert "RUNNING" in studio.ok("list").stdout


@pytest.mark.accept("F14")
def test_a_recorder_that_cannot_even_start_does_not_fail_the_create(studio: Studio) -> None:
    broken = studio.world.folder / "broken" / "pty.py"
    broken.parent.mkdir()
    broken.write_text("raise ImportError('no terminals today')")
    studio.connect_with(f"PYTHONPATH='{broken.parent}' mngr-e2e-connect")
    assert "warning: the agent's terminal is not recorded" in studio.agent("foo", "echo hello")
    assert "no terminals today" in (studio.casts / "1-foo.cast.error").read_text()


@pytest.mark.accept("F15")
@pytest.mark.parametrize("version", ["exit 1", "echo asciinema 1.9", "echo hm"])
def test_an_asciinema_that_cannot_be_used_is_replaced_by_the_built_in(studio: Studio, version: str) -> None:
    studio.instead_of_asciinema(version)
    assert studio.agent("foo", "echo hello") == ""
    assert wait_until(lambda: "hello" in studio.shown("1-foo.cast"), PATIENCE_S)


@pytest.mark.accept("F15")
def test_asciinema_3_is_called_by_its_own_flags(studio: Studio) -> None:
    fixture = Path(__file__).parent / "v3.cast"
    studio.instead_of_asciinema(
        '[ "$1" = --version ] && echo asciinema 3.1.0 && exit\n'
        f'printf "%s\\n" "$@" >"{studio.world.folder}/said"; for last; do :; done; cp "{fixture}" "$last"; sleep 1'
    )
    assert studio.agent("foo", "echo hello") == ""
    said = (studio.world.folder / "said").read_text().splitlines()
    assert said[:5] == ["rec", "--quiet", "--headless", "--window-size", "120x32"]
    assert said[5] == "-c"
    assert said[6].startswith("exec env HOME=")
    assert said[7:] == [str(studio.casts / "1-foo.cast")]


def test_artifacts_that_cannot_be_written_do_not_fail_the_create(studio: Studio) -> None:
    studio.artifacts.write_text("a file in the way")
    assert "warning: the agent's terminal is not recorded" in studio.agent("foo", "echo hello")


@pytest.mark.accept("F12")
def test_without_a_place_or_an_agent_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("MNGR_E2E_ARTIFACTS", "MNGR_ATTACH_ARGV"):
        monkeypatch.delenv(name, raising=False)
    assert main([]) == 2
    assert "hint: the e2e fixture sets it; without it: mngr-e2e-connect --out DIR" in capsys.readouterr().err
    assert main(["--out", "/nonexistent"]) == 2
    assert 'connect_command = "mngr-e2e-connect"' in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["--size", "wide"])
    assert '"wide" is no size' in capsys.readouterr().err


@pytest.mark.accept("F13")
def test_out_takes_the_place_of_the_variable(studio: Studio) -> None:
    del studio.env["MNGR_E2E_ARTIFACTS"]
    studio.connect_with(f"mngr-e2e-connect --out '{studio.artifacts}'")
    studio.agent("foo", "echo hello")
    assert wait_until(lambda: "hello" in studio.shown("1-foo.cast"), PATIENCE_S)


@pytest.mark.accept("F16")
def test_a_connect_command_that_connects_is_not_called_again(studio: Studio) -> None:
    script = studio.world.folder / "again"
    script.write_text(f'#!/bin/sh\necho called >>"{studio.artifacts}"\nmngr connect "$MNGR_AGENT_NAME"\n')
    script.chmod(0o755)
    studio.connect_with(str(script))
    done = studio("create", "foo", "--", "sleep", "1000")
    assert "connect needs a terminal" in done.stderr
    assert studio.artifacts.read_text() == "called\n"
    screen = studio.terminal("create", "bar", "--", "sh", "-c", "echo hello-bar; exec sleep 1000")
    screen.wait_for("hello-bar")
    screen.type("\x11")
    assert screen.end() == 0
    assert studio.artifacts.read_text() == "called\ncalled\n"


@pytest.mark.accept("F15")
def test_asciinema_is_asked_by_the_flags_of_its_version() -> None:
    two = asciinema.record_argv((2, 4), (80, 24), "exec x", "/a b.cast")
    assert two == ("asciinema", "rec", "-q", "--cols", "80", "--rows", "24", "-c", "exec x", "/a b.cast")
    three = asciinema.record_argv((3, 0), (80, 24), "exec x", "/a b.cast")
    assert three == (
        *("asciinema", "rec", "--quiet", "--headless", "--window-size", "80x24"),
        *("-c", "exec x", "/a b.cast"),
    )


@pytest.mark.accept("F15")
@pytest.mark.parametrize(
    ("said", "version"),
    [("asciinema 2.2.0\n", (2, 2)), ("asciinema 3.1.0", (3, 1)), ("asciinema 2.1.0", None), ("oops", None)],
)
def test_the_version_is_read_and_too_old_ones_are_refused(said: str, version: tuple[int, int] | None) -> None:
    assert asciinema.version_in(said) == version


def test_the_attached_program_keeps_the_users_home() -> None:
    line = asciinema.attach_line(("sh", "-c", 'printf %s "$HOME;$0"', "it's"), "/home of/ada")
    env = asciinema.own_env(
        {"PATH": os.environ["PATH"], "HOME": "/home of/ada", "ASCIINEMA_REC": "1"}, "/own"
    )
    done = subprocess.run(["sh", "-c", line], env=env, capture_output=True, check=True)
    assert done.stdout == b"/home of/ada;it's"
    assert env["HOME"] == "/own/home"
    assert "ASCIINEMA_REC" not in env
    assert {value for name, value in env.items() if name.startswith("ASCIINEMA_")} == {
        "/own/home/config",
        "/own/home/state",
        "/own/home/data",
    }
