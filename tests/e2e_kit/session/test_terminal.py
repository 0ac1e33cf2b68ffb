"""Full-screen programs under test: keys in, screens out, recorded."""

import json
import re
import time
from pathlib import Path

import pytest

from mngr_e2e import E2eSession, ExpectationError, expect
from mngr_e2e.recorder.cast import read_cast, text
from mngr_e2e.recorder.recordings import read_recordings
from mngr_e2e.session.terminal import TerminalError
from mngr_e2e.session.transcript import parse_transcript, read_records

MENU = r"""
stty -echo; printf '\033[2J\033[HMENU %s\n' "100%"
while read -r line; do
  case $line in q) exit 3;; *) printf '\033[2J\033[Hchose <%s>\n' "$line";; esac
done
"""


@pytest.mark.accept("F18")
def test_keys_and_text_reach_the_program_and_its_screen_is_seen(session: E2eSession) -> None:
    terminal = session.terminal(MENU, cols=40, rows=5, name="menu")
    terminal.wait_for("MENU 100%")
    terminal.type("a;b #{x} %H;")
    terminal.keys("Enter")
    expect(terminal).to_show("chose <a;b #{x} %H;>")
    expect(terminal).not_.to_show("MENU")
    shown = terminal.screen("after choice")
    assert shown.rows == ("chose <a;b #{x} %H;>", "", "", "", "")
    assert shown.cursor == (0, 1)
    assert (session.artifacts / "screens/1-menu-1-after-choice.txt").read_text() == "chose <a;b #{x} %H;>\n"
    terminal.type("q\n")
    expect(terminal).to_have_ended(3)


@pytest.mark.accept("F18", "F20")
def test_a_program_can_start_tmux_itself(session: E2eSession) -> None:
    """A program that attaches to agents refuses to inside tmux; in a user's terminal there is none."""
    terminal = session.terminal(
        'echo "in [${TMUX-}${TMUX_PANE-}]"; exec tmux new-session "echo nested; sleep 60"'
    )
    expect(terminal).to_show("nested")
    terminal.keys("C-b", "d")
    expect(terminal).to_show("in []")
    expect(terminal).to_have_ended(0)


@pytest.mark.accept("F17", "F18", "V6")
def test_every_step_is_in_the_transcript_with_its_moment(session: E2eSession) -> None:
    before = time.time()
    terminal = session.terminal(MENU.strip(), cols=40, rows=5, name="menu")
    terminal.wait_for("MENU 100%")
    terminal.type("a\nb")
    terminal.keys("Enter", "C-l")
    terminal.screen("chosen")
    expect(terminal).to_show("chose <b>")
    expect(terminal).not_.to_show("MENU")
    terminal.wait_quiet(0.1)
    with pytest.raises(TerminalError):
        terminal.wait_for("never", timeout_s=0.1)
    terminal.type("\nq\n")
    expect(terminal).to_have_ended(3)
    entries = parse_transcript((session.artifacts / "transcript.txt").read_text())
    records = read_records(str(session.artifacts / "transcript.jsonl"))
    assert [(entry.command, entry.exit_code) for entry in entries] == [
        (MENU.strip(), None),
        ("[1-menu] wait for 'MENU 100%'", 0),
        ("[1-menu] type 'a\\nb'", 0),
        ("[1-menu] keys Enter C-l", 0),
        ("[1-menu] screen chosen", 0),
        ("[1-menu] see 'chose <b>'", 0),
        ("[1-menu] see no 'MENU'", 0),
        ("[1-menu] wait until it is quiet", 0),
        ("[1-menu] wait for 'never'", 1),
        ("[1-menu] type '\\nq\\n'", 0),
        ("[1-menu] see that it has ended with exit code 3", 0),
    ]
    assert entries[0].comment == "terminal 1-menu, 40x5"
    assert entries[8].stdout == "chose <b>\n"
    assert [(one.command, one.exit_code, one.terminal) for one in records] == [
        (entry.command, entry.exit_code, "1-menu") for entry in entries
    ]
    starts = [one.start for one in records]
    assert starts == sorted(starts)
    assert before <= starts[0]
    assert records[8].duration >= 0.1


@pytest.mark.accept("F18")
def test_waiting_fails_with_the_screen_and_the_command(session: E2eSession) -> None:
    terminal = session.terminal("echo hello; sleep 300")
    terminal.wait_for(re.compile("h.llo"))
    with pytest.raises(TerminalError, match=r"'never' did not show within 0.2 s\n\$ echo hello.*\n\| hello"):
        terminal.wait_for("never", timeout_s=0.2)
    with pytest.raises(ExpectationError, match="expected the terminal to show 'never'"):
        expect(terminal).to_show("never", timeout_s=0.2)
    expect(terminal.screen()).to_show("hello")


@pytest.mark.accept("F18")
def test_a_program_that_ended_is_not_waited_for(session: E2eSession) -> None:
    terminal = session.terminal("echo bye; exit 4")
    with pytest.raises(TerminalError, match=r"ended with exit code 4"):
        terminal.wait_for("never", timeout_s=60)


@pytest.mark.accept("F18")
def test_quiet_comes_after_the_last_change(session: E2eSession) -> None:
    terminal = session.terminal("for i in 1 2 3 4 5; do echo line $i; sleep 0.1; done; sleep 300")
    expect(terminal.wait_quiet(3)).to_show("line 5")
    with pytest.raises(TerminalError, match="not quiet within"):
        session.terminal("while :; do date +%N; sleep 0.02; done").wait_quiet(2, timeout_s=0.5)


@pytest.mark.accept("F17")
def test_a_test_that_ends_before_its_recorder_has_begun_has_its_recording(session: E2eSession) -> None:
    session.terminal("echo brief; sleep 300", name="brief")
    session.finish("passed")
    (recording,) = read_recordings(session.artifacts)
    assert recording.title == "brief"


@pytest.mark.accept("F17", "F18")
def test_the_whole_output_is_in_the_recording(session: E2eSession) -> None:
    terminal = session.terminal("echo first; sleep 2; echo 'l%s #{st} é'", cols=50, rows=8, name="talk")
    expect(terminal).to_have_ended(0)
    cast = session.artifacts / "casts/1-talk.cast"
    session.finish("passed")
    header, *events = [json.loads(line) for line in cast.read_text().splitlines()]
    assert header["title"] == "talk"
    assert (header["version"], header["width"], header["height"]) == (2, 50, 8)
    assert "first\r\nl%s #{st} é\r\n" in "".join(text for _, _, text in events)
    times = [at for at, _, _ in events]
    assert times == sorted(times)
    assert times[-1] > 0.1


def test_long_text_arrives_whole(session: E2eSession) -> None:
    terminal = session.terminal("stty -icanon -echo; echo ready; head -c 20000 | wc -c; cat", rows=5)
    terminal.wait_for("ready")
    terminal.type("y" * 20000)
    terminal.wait_for("20000")
    assert isinstance(session.artifacts, Path)


@pytest.mark.accept("F18")
def test_every_end_is_seen_though_tmux_misses_some(session: E2eSession) -> None:
    for number in range(12):
        terminal = session.terminal(f"echo ready; read -r line; exit {number}")
        terminal.wait_for("ready")
        terminal.keys("Enter")
        expect(terminal).to_have_ended(number, timeout_s=60)


@pytest.mark.accept("V6")
def test_a_recording_lasts_as_long_as_its_terminal(session: E2eSession) -> None:
    session.terminal("echo ready; exec sleep 300", name="still").wait_for("ready")
    session.run("sleep 0.5")
    session.run("true")
    session.finish("passed")
    (recording,) = read_recordings(session.artifacts)
    last = read_records(str(session.artifacts / "transcript.jsonl"))[-1]
    cast = read_cast(session.artifacts / "casts" / recording.file)
    assert last.start <= recording.start + cast.duration_s
    assert text(cast).strip() == "ready"
