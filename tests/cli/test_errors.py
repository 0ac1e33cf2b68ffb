"""Whatever goes wrong is one line, a hint and an exit code."""

import signal
from pathlib import Path

import pytest
from tests.cli.command import ARGV, Mngr
from tests.cli.test_main import Plugin

from mngr import process
from mngr.process import OnlyEnv
from mngr.testing.waiting import PATIENCE_S

BUGGY = "import click\n@click.command()\n@click.option('-v', is_flag=True)\ndef command(v):\n    1 / 0\n"


def test_a_bug_is_one_line_and_a_traceback_only_when_asked_for(mngr: Mngr, tmp_path: Path) -> None:
    folder = str(Plugin(tmp_path / "p").add("buggy", BUGGY).folder)
    done = mngr("buggy", PYTHONPATH=folder)
    assert done.code == 1
    assert done.stderr.startswith("error: this is a bug in mngr: ZeroDivisionError")
    assert "MNGR_DEBUG=1" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Traceback" in mngr("buggy", "-v", PYTHONPATH=folder).stderr
    assert "Traceback" in mngr("buggy", PYTHONPATH=folder, MNGR_DEBUG="1").stderr


def test_what_the_system_refuses_is_no_bug(mngr: Mngr) -> None:
    mngr.world.host_dir.write_text("a file in the way")
    done = mngr("create", "foo", "--", "sleep", "1000")
    assert done.code in (1, 2)
    assert done.stderr.startswith("error: ")
    assert "bug in mngr" not in done.stderr
    mngr.world.host_dir.unlink()


def test_a_reader_that_leaves_ends_it_quietly(mngr: Mngr) -> None:
    for name in ("a", "b"):
        mngr.ok("create", name, "--", "sleep", "1000")
    command = 'set -o pipefail; "$@" list --format jsonl | true; echo "${PIPESTATUS[0]}"'
    for words in (["list", "--format", "jsonl"], ["--help"]):
        script = command.replace("list --format jsonl", " ".join(words))
        ran = process.run(["bash", "-c", script, "x", *ARGV], env=OnlyEnv(mngr.env), cwd=str(mngr.world.repo))
        assert ran.stderr == b""
        assert ran.stdout in (b"141\n", b"0\n")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_has_its_exit_code(mngr: Mngr, number: signal.Signals, code: int) -> None:
    mngr.ok("create", "foo", "--", "sleep", "1000")
    waiting = mngr.start("list", "--watch")
    assert waiting.stdout
    assert waiting.stdout.readline()
    waiting.send_signal(number)
    assert waiting.wait(PATIENCE_S) == code
    out, err = waiting.communicate()
    assert b"Traceback" not in out + err


def test_warnings_and_notes_stay_off_stdout_and_quiet_is_quiet(mngr: Mngr) -> None:
    (mngr.world.repo / ".mngr").mkdir()
    (mngr.world.repo / ".mngr/settings.toml").write_text('[notify]\ncommand = "true"\n')
    done = mngr.ok("list", "--format", "jsonl")
    assert done.stdout == ""
    assert done.stderr.startswith("warning: ")
    assert mngr.ok("list", "-q").stderr == ""
    listing = mngr.ok("list", "--json")
    assert len(listing.json["warnings"]) == 1
