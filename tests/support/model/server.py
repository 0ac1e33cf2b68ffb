"""The model's server: threads on loopback, one script for all conversations, a record of what was asked."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import msgspec
from tests.support.model import anthropic, openai_chat, openai_responses
from tests.support.model.script import Asked, Fault, Reply, Script


class _Api(NamedTuple):
    """One way to speak."""

    read: Callable[[dict[str, Any], dict[str, str]], Asked]
    whole: Callable[[Reply, Asked], dict[str, Any]]
    chunks: Callable[[Reply, Asked], Iterator[bytes]]
    error: Callable[[Fault], dict[str, Any]]


_APIS = {
    "/v1/messages": _Api(
        anthropic.read,
        anthropic.whole,
        lambda reply, asked: map(anthropic.encode, anthropic.events(reply, asked)),
        anthropic.error,
    ),
    "/v1/responses": _Api(
        openai_responses.read,
        openai_responses.whole,
        lambda reply, asked: map(openai_responses.encode, openai_responses.events(reply, asked)),
        openai_responses.error,
    ),
    "/v1/chat/completions": _Api(
        openai_chat.read,
        openai_chat.whole,
        lambda reply, asked: map(openai_chat.encode, openai_chat.events(reply, asked)),
        openai_chat.error,
    ),
}
_COUNT_TOKENS = "/v1/messages/count_tokens"
_HELD_AT_MOST_S = 120
# As the API does: without this Claude Code tries a 401 ten times, for three minutes.
_FINAL = (400, 401, 402, 403, 404)


class Model:
    """Answers any number of agents at once. A prompt without a script is echoed."""

    def __init__(self, *scripts: Script) -> None:
        self.scripts = list(scripts)
        self.asked: list[Asked] = []
        self.refuses: Fault | None = None
        """What every request gets, side requests too."""
        self._faults: dict[tuple[int, int], int] = {}
        self._lock = threading.Lock()
        self._port = 0
        self._server: _Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def add(self, *replies: Reply | str, match: str = "", system: str = "") -> None:
        """One more script; the later one wins where two would do."""
        told = tuple(Reply(reply) if isinstance(reply, str) else reply for reply in replies)
        self.scripts.insert(0, Script(told, match, system))

    def forget(self) -> None:
        """As new, on the same port: no script, nothing asked, and it answers."""
        self.scripts.clear()
        self.asked.clear()
        self.refuses = None
        self._faults.clear()
        if not self._server:
            self.start()

    @property
    def prompts(self) -> list[str]:
        """What people said, once each time a turn began with it."""
        return [asked.prompt for asked in self.asked if asked.has_tools and asked.step == 0]

    @property
    def last(self) -> Asked:
        """What an agent asked last; side requests, for titles and the like, are none."""
        return next(asked for asked in reversed(self.asked) if asked.has_tools)

    def start(self) -> None:
        """Begins to answer, after a stop on the same port as before."""
        self._server = _Server(("127.0.0.1", self._port), _handler(self))
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """Is gone, as a server that crashed, and its connections with it."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server.hang_up()
            self._server = None

    def reply(self, asked: Asked) -> tuple[Reply, Fault | None]:
        """What to answer, or what to fail with first."""
        with self._lock:
            self.asked.append(asked)
            if self.refuses:
                return Reply(), self.refuses
            if not asked.has_tools:
                return Reply("A title"), None
            script = next((one for one in self.scripts if one.is_for(asked.prompt, asked.system)), None)
            if script is None:
                return Reply(f"You said: {asked.prompt[:200]}"), None
            reply = script.reply(asked.step)
            return reply, self._next_fault((id(script), asked.step), reply)

    def _next_fault(self, key: tuple[int, int], reply: Reply) -> Fault | None:
        seen = self._faults.get(key, 0)
        if seen >= len(reply.faults):
            return None
        self._faults[key] = seen + 1
        return reply.faults[seen]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self._open: set[socket.socket] = set()

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._open.add(connection)
        return connection, address

    def close_request(self, request: Any) -> None:
        self._open.discard(request)
        super().close_request(request)

    def hang_up(self) -> None:
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """An agent that hangs up is no news."""


def _handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        pass

    Handler.model = model
    return Handler


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        body = msgspec.json.decode(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if path == _COUNT_TOKENS:
            self._json(200, {"input_tokens": len(msgspec.json.encode(body)) // 4})
            return
        api = _APIS.get(path)
        if api is None:
            self._json(404, {"error": {"type": "not_found_error", "message": path}})
            return
        asked = api.read(body, {name.lower(): value for name, value in self.headers.items()})
        reply, fault = self.model.reply(asked)
        if fault is not None and fault.cut_after is None:
            self._fail(api, fault)
            return
        time.sleep(reply.delay_s)
        if reply.until:
            reply.until.wait(_HELD_AT_MOST_S)
        if asked.stream:
            self._stream(api.chunks(reply, asked), fault.cut_after if fault else None)
        else:
            self._json(200, api.whole(reply, asked))

    def do_GET(self) -> None:
        self._json(404, {"error": {"type": "not_found_error", "message": self.path}})

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: the record of what was asked is `Model.asked`."""

    def _fail(self, api: _Api, fault: Fault) -> None:
        headers = {} if fault.retry_after_s is None else {"retry-after": f"{fault.retry_after_s:g}"}
        if fault.status in _FINAL:
            headers["x-should-retry"] = "false"
        self._json(fault.status, api.error(fault), headers)

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        data = msgspec.json.encode(value)
        self.send_response(status)
        for name, text in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, text)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, chunks: Iterator[bytes], cut_after: int | None) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number, chunk in enumerate(chunks):
            if number == cut_after:
                self.close_connection = True
                return
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
