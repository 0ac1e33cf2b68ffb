"""A line to Codex's app server: JSON-RPC in WebSocket frames, through the program's own proxy on the agent's host."""

import queue
import struct
import threading
import time
from collections import deque
from types import TracebackType
from typing import Any

import msgspec

from mngr.agents.codex.home import SOCKET
from mngr.errors import MngrError
from mngr.hosts.protocol import Host
from mngr.sh.program import quote

_HELLO = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: bW5nci1tbmdyLW1uZ3ItbQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10
_ANSWER_S = 20.0
# An answer that is larger than this is none that we asked for.
_FRAME_LIMIT = 64 << 20

Message = dict[str, Any]


class NotConnectedError(MngrError):
    """The app server does not answer, or not any more."""


class NotGrantedError(MngrError):
    """The app server answered with an error."""


class Channel:
    """One connection. Messages that the server sends by itself are kept until `listen` takes them."""

    def __init__(self, host: Host, home: str) -> None:
        """Raises NotConnectedError when the app server does not answer."""
        # The program is found where the agent found it.
        script = f"read -r PATH <{quote(f'{home}/path')} && export PATH || exit\n"
        script += f"exec codex app-server proxy --sock {quote(f'{home}/{SOCKET}')} 2>/dev/null"
        self._stream = host.stream(("sh", "-c", script, "mngr-codex"), env={"CODEX_HOME": home})
        self._heard: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._kept: deque[Message] = deque()
        self._last_id = 0
        threading.Thread(target=self._hear, daemon=True).start()
        try:
            self._greet()
        except BaseException:
            self._stream.kill()
            raise

    def __enter__(self) -> "Channel":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.kill()

    def ask(self, method: str, params: Message, *, timeout_s: float = _ANSWER_S) -> Message:
        """A request and its answer."""
        self._last_id += 1
        self._say({"id": self._last_id, "method": method, "params": params})
        deadline = time.monotonic() + timeout_s
        while True:
            message = self._next(deadline)
            if message is None:
                raise NotConnectedError(f"its app server did not answer to {method} within {timeout_s:g} s")
            if message.get("id") != self._last_id or "method" in message:
                self._kept.append(message)
            elif "error" in message:
                raise NotGrantedError(str(message["error"].get("message", message["error"])))
            else:
                return dict(message.get("result") or {})

    def listen(self, timeout_s: float) -> Message | None:
        """The next thing the server said or asked by itself; None when nothing came."""
        return self._kept.popleft() if self._kept else self._next(time.monotonic() + timeout_s)

    def answer(self, request: Message, result: Message) -> None:
        self._say({"id": request["id"], "result": result})

    def _greet(self) -> None:
        self._write(_HELLO)
        # What is said before the server has answered to this is lost.
        if self._next(time.monotonic() + _ANSWER_S) is None:
            raise NotConnectedError("its app server does not answer")
        client = {"name": "mngr", "version": "1"}
        self.ask("initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
        self._say({"method": "initialized"})

    def _next(self, deadline: float) -> Message | None:
        try:
            message = self._heard.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            return None
        if message is None:
            self._heard.put(None)
            raise NotConnectedError("its app server does not answer")
        return message

    def _say(self, message: Message) -> None:
        """Writes a text frame; clients must mask theirs, and a mask of zeros changes nothing."""
        payload = msgspec.json.encode({"jsonrpc": "2.0", **message})
        size, start = len(payload), 0x80 | _TEXT
        if size < 126:
            head = struct.pack(">BB", start, 0x80 | size)
        elif size < 1 << 16:
            head = struct.pack(">BBH", start, 0x80 | 126, size)
        else:
            head = struct.pack(">BBQ", start, 0x80 | 127, size)
        self._write(head + b"\0\0\0\0" + payload)

    def _hear(self) -> None:
        """Reads until the line is cut, which is told by None."""
        source = self._stream.stdout
        try:
            while source.readline() not in (b"\r\n", b""):
                pass
            self._heard.put({})
            text = b""
            while (frame := self._read_frame()) and frame[0] != _CLOSE:
                opcode, is_last, payload = frame
                if opcode in (_PING, _PONG):
                    continue
                text += payload
                if is_last:
                    self._heard.put(msgspec.json.decode(text, type=Message))
                    text = b""
        except (OSError, ValueError, msgspec.DecodeError):
            pass
        finally:
            self._heard.put(None)

    def _write(self, data: bytes) -> None:
        try:
            self._stream.stdin.write(data)
            self._stream.stdin.flush()
        except (OSError, ValueError):
            raise NotConnectedError("its app server does not answer") from None

    def _read_frame(self) -> tuple[int, bool, bytes] | None:
        source = self._stream.stdout
        head = source.read(2)
        if len(head) < 2:
            return None
        size = head[1] & 0x7F
        if size > 125:
            width = 2 if size == 126 else 8
            size = int.from_bytes(source.read(width), "big")
        payload = source.read(size) if size <= _FRAME_LIMIT else b""
        return (head[0] & 0x0F, bool(head[0] & 0x80), payload) if len(payload) == size else None
