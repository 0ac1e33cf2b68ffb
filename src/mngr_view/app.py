"""What the live page's server answers those that it lets in: the page, its data, and an event for each change."""

import hmac
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from mngr_view.chunks import INDEX, compress, encode
from mngr_view.source import Source
from mngr_view.template import LIVE, Template

HOSTS = ("127.0.0.1", "localhost", "[::1]")
_LOOK_EVERY_S = 0.5
# So many times as long as a look took it pauses before the next.
_PAUSE_PER_LOOK = 10
_TICK_S = 0.1
_KEEP_ALIVE_S = 15.0
_IDLE_S = 60.0
_WORTH_COMPRESSING = 1_000
_FAST_LEVEL = 3
_TEXT, _HTML, _JSON = "text/plain; charset=utf-8", "text/html; charset=utf-8", "application/json"
_HEADERS = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


class AccessCheck(Struct, frozen=True):
    """Who may come in: browsers of this machine that know the token and were not sent by another page."""

    token: str
    port: int

    def refusal(self, hosts: Iterable[str], origins: Iterable[str]) -> str:
        """Why a request with these headers is turned away, or ""."""
        hosts = [host.lower() for host in hosts]
        if len(hosts) != 1 or hosts[0] not in [f"{host}:{self.port}" for host in HOSTS]:
            return "this server answers to its own address only"
        if any(origin.lower() != f"http://{hosts[0]}" for origin in origins):
            return "this server does not answer to other pages"
        return ""

    def path_behind(self, path: str) -> str | None:
        """The path without its token, or None where the token is not ours."""
        _, _, rest = path.partition("/")
        token, slash, inner = rest.partition("/")
        if not hmac.compare_digest(token.encode(errors="replace"), self.token.encode()):
            return None
        return f"/{inner}" if slash else ""


class Answer(Struct, frozen=True):
    body: bytes
    type: str = _TEXT
    status: int = HTTPStatus.OK
    headers: dict[str, str] = {}


class Site:
    """The answers to those that were let in. Several threads ask at once."""

    def __init__(
        self,
        source: Source,
        template: Template,
        access: AccessCheck,
        on_page: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_page` is called whenever the page is given; streams of events end when `is_over` is set."""
        self.access, self.is_over = access, threading.Event()
        self._source, self._template, self._on_page = source, template, on_page
        self._version, self._look_at = "", 0.0
        self._looking = threading.Lock()

    def answer(self, path: str, accepted: str) -> Answer:
        """To a path behind the token."""
        if path == "/":
            return self._page()
        kind, _, key = path.removeprefix("/").partition("/")
        data = None
        if kind == "data":
            data = self._index() if key == INDEX else self._source.chunk(key)
        if data is None:
            return Answer(b"there is nothing of this name", status=HTTPStatus.NOT_FOUND)
        if "gzip" not in accepted or len(data) < _WORTH_COMPRESSING:
            return Answer(data, _JSON)
        headers = {"content-encoding": "gzip", "vary": "Accept-Encoding"}
        return Answer(compress(data, _FAST_LEVEL), _JSON, headers=headers)

    def changes(self, seen: str) -> Iterator[str]:
        """An event at once, for what changed before anyone listened, and then whenever something changes."""
        sent_at = time.monotonic()
        while not self.is_over.is_set():
            version = self._look()
            if version != seen:
                seen, sent_at = version, time.monotonic()
                yield f"event: changed\nid: {version}\ndata: {{}}\n\n"
            elif time.monotonic() - sent_at > _KEEP_ALIVE_S:
                sent_at = time.monotonic()
                yield ": still here\n\n"
            self.is_over.wait(_TICK_S)

    def _page(self) -> Answer:
        self._on_page()
        head = self._template.head(self._source.index().title, is_live=True)
        policy = f"{self._template.policy(is_live=True)}; frame-ancestors 'none'"
        body = head + LIVE.encode() + self._template.tail
        return Answer(body, _HTML, headers={"content-security-policy": policy})

    def _index(self) -> bytes:
        return encode(replace(self._source.index(), is_live=True))

    def _look(self) -> str:
        """The version, looked up once for all listeners, and less often where looking takes long."""
        with self._looking:
            if (began := time.monotonic()) >= self._look_at:
                self._version = self._source.version()
                took_s = time.monotonic() - began
                self._look_at = time.monotonic() + max(_LOOK_EVERY_S, _PAUSE_PER_LOOK * took_s)
            return self._version


class Handler(BaseHTTPRequestHandler):
    """One connection; every answer carries the headers that keep it where it belongs."""

    protocol_version = "HTTP/1.1"

    def __init__(self, site: Site, *connection: Any) -> None:
        self._site = site
        super().__init__(*connection)

    def handle_one_request(self) -> None:
        # A client that sends nothing for long is left; one that reads slowly is not.
        self.connection.settimeout(_IDLE_S)
        super().handle_one_request()

    def do_GET(self) -> None:
        self.connection.settimeout(None)
        # A body is not read, so what follows on this connection would not be a request.
        if self.headers.get("content-length") or self.headers.get("transfer-encoding"):
            self.close_connection = True
        # `self.path` has lost slashes: http.server merges those that it begins with.
        path = unquote(self.requestline.split()[1].partition("?")[0], errors="replace")
        inner = self._site.access.path_behind(path)
        hosts, origins = (self.headers.get_all(name, []) for name in ("host", "origin"))
        if why := self._site.access.refusal(hosts, origins):
            self._send(Answer(f"{why}\n".encode(), status=HTTPStatus.FORBIDDEN))
        elif inner is None:
            why = "open the whole address that was printed when this server started\n"
            self._send(Answer(why.encode(), status=HTTPStatus.FORBIDDEN))
        elif not inner:
            to = {"location": f"/{self._site.access.token}/"}
            self._send(Answer(b"", status=HTTPStatus.TEMPORARY_REDIRECT, headers=to))
        elif self.command not in ("GET", "HEAD"):
            self.close_connection = True
            allowed = {"allow": "GET, HEAD"}
            self._send(Answer(b"", status=HTTPStatus.METHOD_NOT_ALLOWED, headers=allowed))
        elif inner == "/events" and self.command == "GET":
            self._stream(self._site.changes(self.headers.get("last-event-id", "")))
        else:
            self._send(self._answer(inner))

    do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = do_GET

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is no request: the words of http.server hold what was sent, and its own name."""
        del message, explain
        self.close_connection = True
        self._send(Answer(f"{HTTPStatus(code).phrase}\n".encode(), status=code))

    def log_message(self, format: str, *words: Any) -> None:
        """Nothing is logged: the address holds the token."""

    def _answer(self, path: str) -> Answer:
        try:
            return self._site.answer(path, self.headers.get("accept-encoding", ""))
        except Exception:
            # The browser gets a 500; the terminal of the server shows why.
            traceback.print_exc()
            return Answer(b"Internal Server Error", status=HTTPStatus.INTERNAL_SERVER_ERROR)

    def _send(self, answer: Answer) -> None:
        length = {"content-length": str(len(answer.body))}
        self._begin(answer.status, {"content-type": answer.type, **length, **answer.headers})
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def _stream(self, parts: Iterator[str]) -> None:
        self.close_connection = True
        self._begin(HTTPStatus.OK, {"content-type": "text/event-stream; charset=utf-8"})
        for part in parts:
            self.wfile.write(part.encode())

    def _begin(self, status: int, headers: dict[str, str]) -> None:
        self.send_response_only(status)
        closing = {"connection": "close"} if self.close_connection else {}
        for name, value in {**_HEADERS, **headers, **closing}.items():
            self.send_header(name, value)
        self.end_headers()


class Server(ThreadingHTTPServer):
    """A thread for each connection; none of them is waited for at the end."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, listening: socket.socket, site: Site) -> None:
        super().__init__(listening.getsockname()[:2], partial(Handler, site), bind_and_activate=False)
        self.socket.close()
        self.socket = listening

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away is no error."""
        del request, client_address
        if not isinstance(sys.exception(), OSError):
            traceback.print_exc()
