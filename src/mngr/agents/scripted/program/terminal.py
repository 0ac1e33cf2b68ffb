"""The terminal of the program: what is typed there, and what is shown."""

from __future__ import annotations

import os
import re
import termios
from typing import Any

TITLE = "mngr-scripted"
PASTE_START, PASTE_END = b"\x1b[200~", b"\x1b[201~"
KEY = re.compile(rb"\x1b(?:\[[0-9;?]*[@-~]|O.|.)?|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+", re.DOTALL)


class Inbox:
    """Typed bytes in, messages out. A paste is taken as it is; Enter outside a paste submits."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.typed = bytearray()
        self._rest = b""
        self._pasting = False

    def feed(self, data: bytes) -> None:
        data, self._rest = self._rest + data, b""
        while data:
            data = self._paste(data) if self._pasting else self._key(data)

    def _paste(self, data: bytes) -> bytes:
        text, end, rest = data.partition(PASTE_END)
        if end:
            self.typed += text
            self._pasting = False
            return rest
        kept = next((n for n in range(len(PASTE_END) - 1, 0, -1) if data.endswith(PASTE_END[:n])), 0)
        self.typed += data[: len(data) - kept]
        self._rest = data[len(data) - kept :]
        return b""

    def _key(self, data: bytes) -> bytes:
        if data.startswith(PASTE_START):
            self._pasting = True
            return data[len(PASTE_START) :]
        if PASTE_START.startswith(data):
            self._rest = data
            return b""
        found = KEY.match(data)
        assert found
        key = found.group()
        if key == b"\r":
            if self.typed:
                self.messages.append(bytes(self.typed))
            self.typed.clear()
        elif key == b"\x03":
            raise KeyboardInterrupt
        elif key in (b"\x7f", b"\x08"):
            del self.typed[-1:]
        elif key == b"\x15":
            self.typed.clear()
        elif key[0] >= 0x20 or key in (b"\n", b"\t"):
            self.typed += key
        return data[len(key) :]


class TerminalDisplay:
    """The terminal: keys come one by one, pastes are marked, and it is left as it was found."""

    def __init__(self) -> None:
        self._plain = bool(os.environ.get("NO_COLOR"))
        self._before: list[Any] | None = None

    def open(self) -> None:
        if not os.isatty(0):
            return
        self._before = termios.tcgetattr(0)
        # The title comes after the switch: when it is seen in tmux, pastes will be marked.
        self.write(b"\x1b[?2004h\x1b]2;%s\x1b\\" % TITLE.encode())
        mode = termios.tcgetattr(0)
        mode[0] &= ~(termios.BRKINT | termios.ICRNL | termios.INLCR | termios.IGNCR)
        mode[0] &= ~(termios.INPCK | termios.ISTRIP | termios.IXON | termios.IXOFF | termios.PARMRK)
        mode[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
        termios.tcsetattr(0, termios.TCSANOW, mode)

    def close(self) -> None:
        if self._before is not None:
            self.write(b"\x1b[?2004l")
            termios.tcsetattr(0, termios.TCSANOW, self._before)
            self._before = None

    def write(self, data: bytes) -> None:
        while data:
            data = data[os.write(1, data) :]

    def show(self, sign: str, text: str, colour: int) -> None:
        mark = sign if self._plain else f"\x1b[{colour}m{sign}\x1b[0m"
        body = harmless(text).replace("\n", "\n  ")
        self.write(f"\r\x1b[K{mark} {body}\n".encode("utf-8", "replace"))

    def prompt(self, typed: bytes) -> None:
        line = harmless(typed.decode("utf-8", "replace").split("\n")[-1])[-100:]
        self.write(b"\r\x1b[K> " + line.encode("utf-8", "replace"))


def harmless(text: str) -> str:
    return "".join(char if char.isprintable() or char in "\n\t" else "·" for char in text)
