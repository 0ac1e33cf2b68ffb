"""What is typed into a real tmux pane arrives exactly, once, or is refused; what it shows can be read."""

import os
import random
import string
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.tmux.stage import Stage, path_without

from mngr.errors import RefusedError, UnreachableError, UsageError
from mngr.hosts.local import LocalHost
from mngr.model.message import MESSAGE_LIMIT
from mngr.process import Completed, wait_until
from mngr.sh.program import quote
from mngr.testing.waiting import PATIENCE_S
from mngr.tmux.pane import CHANGED, AgentPane, AroundPaste, capture, look, paste, press
from mngr.tmux.server import tmux_sh
from mngr.tmux.session import kill_script

ALL_BYTES = bytes(range(256)) * 256
RAW = "stty raw -echo; echo up; exec cat >out"
CBREAK = "stty -icanon -echo; echo up; exec cat >out"
MESSAGES = {
    "all bytes": ALL_BYTES,
    "one line of 64 KB": b"x" * MESSAGE_LIMIT,
    "noise": random.Random(8).randbytes(MESSAGE_LIMIT),
    "newlines": b"\n" * 10_000,
    "lines just at the limits": b"\n".join(b"y" * size for size in (999, 1000, 1001, 4094, 4095, 4096, 8192)),
    "text": "ein Gruß, ünïcode → 🦊\nand a second line\n".encode(),
    "only control bytes": b"\x03\x04\x11\x13\x15\x16\x17\x1a\x1b\x1c\x7f\x00",
}


@pytest.mark.accept("K8")
@pytest.mark.parametrize("message", MESSAGES.values(), ids=list(MESSAGES))
def test_a_canonical_terminal_hands_over_every_byte(stage: Stage, message: bytes) -> None:
    pane = stage.shell("exec cat >out")
    pasted = paste(pane, message, enter=True)
    assert (pasted.taken, pasted.alive) == (True, True)
    assert stage.file("out", len(message) + 1) == message + b"\n"


@pytest.mark.accept("K8")
def test_a_program_that_reads_late_loses_nothing(stage: Stage) -> None:
    pane = stage.shell("until [ -e go ]; do sleep 0.05; done; exec cat >out")
    paste(pane, ALL_BYTES, enter=True)
    (stage.folder / "go").touch()
    assert stage.file("out", len(ALL_BYTES) + 1) == ALL_BYTES + b"\n"


@pytest.mark.accept("K8")
@pytest.mark.parametrize(
    "message", [ALL_BYTES, b"x" * MESSAGE_LIMIT, b"a\nb\r\nc"], ids=["all", "long", "lines"]
)
def test_a_raw_terminal_hands_over_every_byte(stage: Stage, message: bytes) -> None:
    pane = stage.when_up(stage.shell(RAW))
    assert paste(pane, message, enter=True).taken
    assert stage.file("out", len(message) + 1) == message + b"\r"


@pytest.mark.accept("K8")
def test_a_program_that_asked_for_bracketed_paste_gets_its_marks(stage: Stage) -> None:
    pane = stage.when_up(stage.shell(rf"printf '\033[?2004h'; {RAW}"))
    paste(pane, b"two\nlines", enter=True)
    assert stage.file("out", 22) == b"\x1b[200~two\nlines\x1b[201~\r"


@pytest.mark.accept("K8")
def test_a_canonical_program_never_reads_paste_marks_as_text(stage: Stage) -> None:
    pane = stage.when_up(stage.shell(r"printf '\033[?2004h'; echo up; exec cat >out"))
    paste(pane, b"plain \x1b[201~ text", enter=True)
    assert stage.file("out", 18) == b"plain \x1b[201~ text\n"


@pytest.mark.accept("K8")
@pytest.mark.parametrize("byte", [0x03, 0x1C, 0x1A, 0x11, 0x13, 0x0D])
def test_a_byte_the_terminal_acts_on_is_refused_before_anything_is_sent(stage: Stage, byte: int) -> None:
    pane = stage.when_up(stage.shell(CBREAK))
    with pytest.raises(RefusedError, match=f"byte 0x{byte:02x} at offset 4097"):
        paste(pane, b"x" * 4097 + bytes([byte]) + b"y", enter=True)
    assert paste(pane, b"fine", enter=True).alive
    assert stage.file("out", 5) == b"fine\n"


@pytest.mark.accept("K8")
def test_the_sequence_that_ends_a_paste_is_refused(stage: Stage) -> None:
    pane = stage.when_up(stage.shell(RAW))
    with pytest.raises(RefusedError, match="byte 0x1b at offset 3"):
        paste(pane, b"abc\x1b[201~\rrm -rf", enter=True)
    paste(pane, b"fine", enter=True)
    assert stage.file("out", 5) == b"fine\r"


@pytest.mark.accept("K8")
def test_a_message_over_the_limit_is_refused(stage: Stage) -> None:
    pane = stage.shell("exec cat >out")
    with pytest.raises(UsageError, match="65,537 bytes"):
        paste(pane, b"x" * (MESSAGE_LIMIT + 1), enter=True)
    paste(pane, b"fine", enter=True)
    assert stage.file("out", 5) == b"fine\n"


@pytest.mark.accept("K8")
def test_copy_mode_swallows_nothing_and_a_canonical_pane_stays_in_it(stage: Stage) -> None:
    pane = stage.shell("exec cat >out")
    assert stage.tmux("copy-mode", "-t", pane.target).code == 0
    paste(pane, b"a\nmessage", enter=True)
    assert stage.file("out", 10) == b"a\nmessage\n"
    assert look(pane).in_copy_mode


@pytest.mark.accept("K8")
def test_copy_mode_does_not_cost_a_program_its_paste_marks(stage: Stage) -> None:
    pane = stage.when_up(stage.shell(rf"printf '\033[?2004h'; {RAW}"))
    assert stage.tmux("copy-mode", "-t", pane.target).code == 0
    paste(pane, b"a\nmessage", enter=True)
    assert stage.file("out", 22) == b"\x1b[200~a\nmessage\x1b[201~\r"


@pytest.mark.accept("K8")
@pytest.mark.parametrize("has_flock", [True, False], ids=["flock", "mkdir"])
def test_concurrent_senders_take_turns(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, has_flock: bool
) -> None:
    if not has_flock:
        monkeypatch.setenv("PATH", path_without(stage.folder / "bin", "flock"))
    pane = stage.shell("exec cat >out")
    messages = [letter.encode() * 6000 for letter in string.ascii_letters[:8]]
    senders = [
        threading.Thread(target=paste, args=(pane, message), kwargs={"enter": True}) for message in messages
    ]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    got = stage.file("out", 8 * 6001)
    assert sorted(got.splitlines()) == sorted(messages)
    assert not stage.tmux("list-buffers").stdout


@pytest.mark.accept("K8")
def test_the_lock_of_a_dead_sender_is_taken_over(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", path_without(stage.folder / "bin", "flock"))
    pane = stage.shell("exec cat >out")
    dead = stage.host.run(("sh", "-c", "echo $$")).text.strip()
    for holder in (f"{dead}.1", f"{os.getpid()}.1"):
        lock = Path(pane.agent.dir, "send.lock.d")
        lock.mkdir(exist_ok=True)
        for file in lock.iterdir():
            file.unlink()
        (lock / holder).touch()
        assert paste(pane, b"fine", enter=True).taken
        assert os.listdir(lock) == ["free"]


class WatchedHost(LocalHost):
    """This machine, seen through: keeps every argv, and can be disturbed just before a paste."""

    def __init__(self, host_dir: str) -> None:
        super().__init__(host_dir)
        self.seen: list[str] = []
        self.disturb: list[object] = []

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Completed:
        self.seen += argv
        if argv[-1] == "mngr-paste" and self.disturb:
            disturb = self.disturb.pop()
            if isinstance(disturb, Exception):
                raise disturb
            assert callable(disturb)
            disturb()
        return super().run(argv, stdin=stdin, timeout_s=timeout_s, env=env, cwd=cwd)


@pytest.mark.accept("K8", "K9")
def test_a_message_is_in_no_command_line(stage: Stage) -> None:
    pane = stage.shell("exec cat >out")
    host = WatchedHost(stage.host.dir)
    paste(AgentPane(host, pane.agent_id, pane.session), b"the secret words", enter=True)
    assert stage.file("out", 17) == b"the secret words\n"
    assert host.seen
    assert not [word for word in host.seen if "secret" in word]


@pytest.mark.accept("K8")
def test_a_terminal_that_changes_between_look_and_paste_is_looked_at_again(stage: Stage) -> None:
    pane = stage.shell("until [ -e go ]; do sleep 0.02; done; stty raw -echo; touch went; exec cat >out")
    host = WatchedHost(stage.host.dir)

    def change() -> None:
        (stage.folder / "go").touch()
        assert wait_until((stage.folder / "went").exists, PATIENCE_S)

    host.disturb.append(change)
    paste(AgentPane(host, pane.agent_id, pane.session), b"\x03 as it is", enter=True)
    assert stage.file("out", 11) == b"\x03 as it is\r"


@pytest.mark.accept("K8")
def test_what_must_be_on_the_screen_is_asked_at_the_very_moment_of_the_paste(stage: Stage) -> None:
    """The program covers its prompt after the last look of whoever sends: text and keys stay out."""
    script = "stty raw -echo; printf '\\342\\235\\257\\302\\240'; exec cat >out"
    stage.start("sleep", "1000", name="changed")  # whatever the agents are called
    pane = stage.shell(script)
    stage.when_up(pane, "\u276f")
    shows = "#{C:\u276f\u00a0}"
    assert paste(pane, b"one", enter=False, around=AroundPaste(only_if=shows)).taken
    cover = f"printf '\\033[2Ja question' >{look(pane).tty}\n"
    cover += f"until {tmux_sh(pane.paths)} capture-pane -p -t {quote(pane.target)} | grep -q question; do :; done\n"
    refused = paste(pane, b"two", enter=False, around=AroundPaste(before=cover, only_if=shows))
    assert (refused.taken, refused.alive) == (False, True)
    assert CHANGED in refused.why
    for key, only_if in (("3", shows), ("4", "")):
        pane.host.run(("sh", "-c", press(pane, key, only_if=only_if))).check("press")
    assert stage.file("out", 4) == b"one4"
    assert stage.tmux("list-buffers").text == ""


@pytest.mark.accept("K8")
def test_a_host_lost_while_typing_leaves_the_outcome_open(stage: Stage) -> None:
    pane = stage.shell("exec cat >out")
    host = WatchedHost(stage.host.dir)
    host.disturb.append(UnreachableError("the machine is gone"))
    pasted = paste(AgentPane(host, pane.agent_id, pane.session), b"x", enter=True)
    assert pasted.taken is None
    assert "the machine is gone" in pasted.why


@pytest.mark.accept("K8")
def test_a_process_that_ended_is_not_written_to(stage: Stage) -> None:
    pane = stage.start("true")
    wait_until(lambda: look(pane).dead, PATIENCE_S)
    pasted = paste(pane, b"hello?", enter=True)
    assert (pasted.taken, pasted.why) == (False, "its process has ended")


def test_a_session_that_is_gone_is_not_written_to(stage: Stage) -> None:
    pane = stage.shell("exec cat")
    gone = AgentPane(stage.host, pane.agent_id, "mngr-b")
    pasted = paste(gone, b"hello?", enter=True)
    assert (pasted.taken, pasted.why) == (False, "its tmux session is gone")


def test_a_session_whose_name_begins_alike_is_another(stage: Stage) -> None:
    stage.shell("exec cat >out", name="foo-2")
    assert not look(AgentPane(stage.host, "agent-x", "mngr-foo")).exists


def test_a_capture_shows_the_screen_and_with_full_its_history(stage: Stage) -> None:
    pane = stage.when_up(stage.shell("seq 200; echo up; exec cat"))
    assert capture(pane).startswith("153\n")
    assert capture(pane).endswith("200\nup\n")
    assert capture(pane, full=True).startswith("1\n2\n")


def test_a_capture_has_colours_only_when_asked(stage: Stage) -> None:
    pane = stage.when_up(stage.shell(r"printf '\033[31mup\033[0m'; exec cat"))
    assert capture(pane) == "up\n"
    assert capture(pane, ansi=True).startswith("\x1b[31mup")


def test_a_capture_outlives_its_session(stage: Stage) -> None:
    pane = stage.when_up(stage.shell(r"seq 200; printf '\033[31mup\033[0m'; exec cat"))
    live, full = capture(pane), capture(pane, full=True)
    stage.host.run(("sh", "-c", kill_script(stage.paths, [(pane.session, pane.agent)])))
    assert not look(pane).exists
    assert capture(pane) == live
    assert capture(pane, full=True) == full
    assert "\x1b[31mup" in capture(pane, ansi=True)


def test_a_capture_of_nothing_is_empty(stage: Stage) -> None:
    assert capture(AgentPane(stage.host, "agent-x", "mngr-none")) == ""
