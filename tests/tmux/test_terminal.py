"""The bytes typed at a terminal, checked against the kernel's own terminals."""

import os
import pty
import select
import threading

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from mngr import process
from mngr.tmux.terminal import PASTE_END, Refusal, TtyMode, encode_for_terminal, enter_key, parse_stty

GNU = """\
speed 38400 baud; rows 50; columns 200; line = 0;
intr = ^C; quit = ^\\; erase = ^?; kill = ^U; eof = ^D; eol = <undef>;
eol2 = M-^?; swtch = <undef>; start = ^Q; stop = ^S; susp = ^Z; rprnt = ^R;
werase = ^W; lnext = ^V; discard = ;; min = 1; time = 0;
-parenb cs8 -istrip -inlcr -igncr icrnl ixon -ixoff -iuclc
opost nl0 cr0
isig icanon iexten echo -echonl
"""
BUSYBOX = """\
speed 38400 baud; rows 0; columns 0; line = 0;
intr = ^C; quit = ^\\; erase = ^?; kill = ^U; eof = ^D; eol = <undef>;
lnext = ^V; min = 1; time = 0;
-istrip -inlcr -igncr -icrnl -ixon
-isig -icanon -iexten -echo
"""
BSD = """\
speed 9600 baud; 24 rows; 80 columns;
lflags: icanon isig iexten echo -echoprt
iflags: -istrip icrnl -inlcr ixon
cchars: discard = ^O; dsusp = ^Y; eof = ^D; erase2 = ^H; intr = ^C; lnext = ^V; reprint = ^R;
"""
SPECIAL = ("intr", "quit", "erase", "kill", "eof", "start", "stop", "susp", "lnext", "werase", "rprnt")
FLAGS = ("icanon", "isig", "ixon", "iexten", "icrnl", "igncr", "istrip", "ixany")


def test_stty_is_read_as_each_system_prints_it() -> None:
    gnu, busybox, bsd = parse_stty(GNU), parse_stty(BUSYBOX), parse_stty(BSD)
    assert gnu.flags >= {"icanon", "isig", "ixon", "iexten", "icrnl"}
    assert not gnu.flags & {"istrip", "inlcr", "igncr", "iuclc", "ixoff"}
    assert (gnu.chars["intr"], gnu.chars["quit"], gnu.chars["erase"]) == (0x03, 0x1C, 0x7F)
    assert (gnu.chars["eol2"], gnu.chars["discard"], "eol" in gnu.chars) == (0xFF, ord(";"), False)
    assert not busybox.flags & set(FLAGS)
    assert bsd.canonical
    assert (bsd.chars["dsusp"], bsd.chars["erase2"]) == (0x19, 0x08)


class Terminal:
    """A terminal of the kernel's with chosen settings; `through` gives what a program reads of what is typed."""

    def __init__(self, *words: str) -> None:
        self.typist, self.program = pty.openpty()
        process.run(("stty", "-F", os.ttyname(self.program), "-echo", *words)).check("stty")
        self.mode = parse_stty(process.run(("stty", "-a", "-F", os.ttyname(self.program))).text)

    def through(self, typed: bytes, size: int) -> bytes:
        typist = threading.Thread(target=self._type, args=(typed,))
        typist.start()
        got = b""
        while len(got) < size and select.select([self.program], [], [], 1)[0]:
            got += os.read(self.program, 65536)
        typist.join()
        return got

    def _type(self, typed: bytes) -> None:
        while typed:
            typed = typed[os.write(self.typist, typed) :]

    def close(self) -> None:
        os.close(self.typist)
        os.close(self.program)


char = st.sampled_from(["undef", "^A", "^B", "^V", "^D", "a", "x", "~", "^?", "^M"])
choice = st.fixed_dictionaries({}, optional=dict.fromkeys(SPECIAL, char))
switches = st.fixed_dictionaries({name: st.booleans() for name in FLAGS})
piece = st.one_of(
    st.binary(max_size=40), st.sampled_from([b"x" * 1200, b"ab" * 2100, b"\n\n", b"\x04\x04", b"a\r\n"])
)
messages = st.lists(piece, max_size=6).map(b"".join)


@pytest.mark.accept("K8", "Q7")
@settings(max_examples=80, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(message=messages, chars=choice, flags=switches)
def test_a_program_reads_exactly_the_message_or_it_is_refused(
    message: bytes, chars: dict[str, str], flags: dict[str, bool]
) -> None:
    words = [word for name, value in chars.items() for word in (name, value)]
    words += [name if is_on else f"-{name}" for name, is_on in flags.items()]
    terminal = Terminal(*words)
    try:
        typed = encode_for_terminal(message, terminal.mode, bracketed=False)
        if isinstance(typed, Refusal):
            assert message[typed.offset] == typed.byte
            return
        enter = enter_key(terminal.mode) if terminal.mode.canonical else b""
        assert terminal.through(typed + enter, len(message + enter)) == message + enter
    finally:
        terminal.close()


@pytest.mark.accept("K8")
@given(message=st.binary(max_size=300))
def test_a_raw_terminal_gets_the_message_itself(message: bytes) -> None:
    raw = TtyMode(frozenset(), {"intr": 0x03, "start": 0x11})
    typed = encode_for_terminal(message, raw)
    assert typed == message or (isinstance(typed, Refusal) and message[typed.offset :].startswith(PASTE_END))


@pytest.mark.accept("K8")
def test_paste_end_passes_where_no_bracketed_paste_is_on() -> None:
    assert encode_for_terminal(PASTE_END, TtyMode(), bracketed=False) == PASTE_END
    assert isinstance(encode_for_terminal(PASTE_END, TtyMode(), bracketed=None), Refusal)
    assert isinstance(encode_for_terminal(PASTE_END, TtyMode(), bracketed=True), Refusal)


@pytest.mark.accept("K8")
def test_a_refusal_names_byte_offset_and_cause() -> None:
    mode = TtyMode(frozenset({"isig"}), {"intr": 0x03})
    refusal = encode_for_terminal(b"abc\x03", mode)
    assert str(refusal) == 'byte 0x03 at offset 3 is the terminal\'s "intr" character'


@pytest.mark.accept("K8")
def test_a_line_no_eof_character_can_break_is_refused() -> None:
    mode = TtyMode(frozenset({"icanon", "iexten"}), {"lnext": 0x16})
    assert encode_for_terminal(b"x" * 1000, mode) == b"x" * 1000
    refusal = encode_for_terminal(b"x" * 1001, mode)
    assert isinstance(refusal, Refusal)
    assert refusal.offset == 1000
