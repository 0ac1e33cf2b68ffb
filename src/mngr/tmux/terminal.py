"""What a terminal does to bytes on their way to a program, and how to get a message through it unharmed."""

import re

from msgspec import Struct

PASTE_END = b"\x1b[201~"

# A canonical terminal drops what exceeds 4,095 bytes of a line; its eof character hands over what it holds.
_LINE_LIMIT = 1000
_LF, _CR = 0x0A, 0x0D

# Compiled at the first use: most commands need none of it.
_VALUE = r"(\w+) = (.+?);(?=\s|$)"
_FLAG = r"(?<![\w=<])(-?)([a-z]\w+)(?![\w=])"


class TtyMode(Struct, frozen=True):
    """A terminal's settings, as `stty -a` tells them."""

    flags: frozenset[str] = frozenset()
    chars: dict[str, int] = {}

    @property
    def canonical(self) -> bool:
        return "icanon" in self.flags


class Refusal(Struct, frozen=True):
    """Why a message cannot reach this terminal's program as it is: which byte, where."""

    byte: int
    offset: int
    why: str

    def __str__(self) -> str:
        return f"byte 0x{self.byte:02x} at offset {self.offset} {self.why}"


def parse_stty(text: str) -> TtyMode:
    """Reads `stty -a` of GNU, busybox and BSD."""
    chars = {
        name: code for name, value in re.findall(_VALUE, text) if (code := _char_code(value)) is not None
    }
    flags = frozenset(name for minus, name in re.findall(_FLAG, re.sub(_VALUE, " ", text)) if not minus)
    return TtyMode(flags, chars)


def encode_for_terminal(message: bytes, mode: TtyMode, *, bracketed: bool | None = None) -> bytes | Refusal:
    """The bytes to type so that the program reads exactly `message`, or the first byte that forbids it.

    `bracketed` says whether the program asked for bracketed paste; None: not known.
    """
    if not mode.canonical:
        acts = _acts(mode)
        for offset, byte in enumerate(message):
            why = _changed(byte, mode) or acts.get(byte)
            if why:
                return Refusal(byte, offset, why)
        end = -1 if bracketed is False else message.find(PASTE_END)
        if end >= 0:
            return Refusal(
                message[end], end, "starts the sequence that ends a paste: what follows would act as keys"
            )
        return message
    acts = _acts(mode)
    lnext = _usable("lnext", mode) if "iexten" in mode.flags else None
    eof = _usable("eof", mode)
    typed, held = bytearray(), 0
    for offset, byte in enumerate(message):
        changed = _changed(byte, mode)
        if changed or (byte in acts and (lnext is None or byte == _LF)):
            return Refusal(byte, offset, changed or acts[byte])
        if held == _LINE_LIMIT and byte != _LF:
            if eof is None:
                return Refusal(
                    byte, offset, "is too far from a newline for a terminal without an eof character"
                )
            typed.append(eof)
            held = 0
        if lnext is not None and (byte in acts or (byte < 0x20 and byte != _LF) or byte == 0x7F):
            typed.append(lnext)
        typed.append(byte)
        held = 0 if byte == _LF else held + 1
    return bytes(typed)


def enter_key(mode: TtyMode) -> bytes:
    """What ends a line there: programs that read keys get the Enter key, a canonical terminal its newline."""
    return b"\n" if mode.canonical else b"\r"


def _usable(name: str, mode: TtyMode) -> int | None:
    """The character of that name, if it means nothing else there."""
    code = mode.chars.get(name)
    others = [mode.chars.get(other) for other in _acting(mode) if other != name]
    return None if code in (_CR, _LF) or code in others else code


def _acting(mode: TtyMode) -> list[str]:
    """Names of the characters that the terminal acts on with these settings."""
    names: list[str] = []
    if "isig" in mode.flags:
        names += ["intr", "quit", "susp", "dsusp"]
    if "ixon" in mode.flags:
        names += ["start", "stop"]
    if mode.canonical:
        names += ["erase", "kill", "eof", "erase2"]
    if mode.canonical and "iexten" in mode.flags:
        names += ["werase", "rprnt", "reprint", "lnext", "discard"]
    return names


def _acts(mode: TtyMode) -> dict[int, str]:
    """Bytes the terminal acts on instead of handing them over, and why."""
    acts = {
        mode.chars[name]: f'is the terminal\'s "{name}" character'
        for name in _acting(mode)
        if name in mode.chars
    }
    if mode.flags & {"icrnl", "igncr"}:
        acts[_CR] = "is changed by the terminal (icrnl or igncr)"
    if "inlcr" in mode.flags:
        acts[_LF] = "is changed by the terminal (inlcr)"
    return acts


def _changed(byte: int, mode: TtyMode) -> str:
    """Why not even quoting saves this byte; empty when it comes through."""
    if byte >= 0x80 and "istrip" in mode.flags:
        return "loses its eighth bit in this terminal (istrip)"
    if byte == 0xFF and "parmrk" in mode.flags:
        return "is doubled by this terminal (parmrk)"
    if "iuclc" in mode.flags and 0x41 <= byte <= 0x5A:
        return "becomes lower case in this terminal (iuclc)"
    return ""


def _char_code(value: str) -> int | None:
    """`^C`, `^?`, `M-^A`, `x` → its number; None for `<undef>` and for numbers such as `min = 1`."""
    high = 0x80 if value.startswith("M-") and len(value) > 2 else 0
    plain = value[2:] if high else value
    if len(plain) == 2 and plain[0] == "^":
        return high | (0x7F if plain[1] == "?" else ord(plain[1]) & 0x1F)
    return high | ord(plain) if len(plain) == 1 and ord(plain) < 0x80 else None
