"""The live page's web application: a gate, and behind it the page, its data and word of changes."""

import asyncio
import hmac
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mngr_view.chunks import INDEX, compress, encode
from mngr_view.source import Source
from mngr_view.template import LIVE, Template

HOSTS = ("127.0.0.1", "localhost", "[::1]")
_LOOK_EVERY_S = 0.5
_REST = 10
_TICK_S = 0.1
_SAY_SOMETHING_S = 15.0
_WORTH_COMPRESSING = 1_000
_FAST = 3
_HEADERS = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class Gate(Struct, frozen=True):
    """Who may come in: browsers of this machine that know the token and were not sent by another page."""

    token: str
    port: int

    def refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Why a request with these headers is turned away, or ""."""
        hosts = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
        if len(hosts) != 1 or hosts[0] not in [f"{host}:{self.port}" for host in HOSTS]:
            return "this server answers to its own address only"
        origins = [value.decode("latin-1").lower() for name, value in headers if name == b"origin"]
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            return "this server does not answer to other pages"
        return ""

    def path_behind(self, path: str) -> str | None:
        """The path without its token, or None where the token is not ours."""
        _, _, rest = path.partition("/")
        token, slash, inner = rest.partition("/")
        if not hmac.compare_digest(token.encode(errors="replace"), self.token.encode()):
            return None
        return f"/{inner}" if slash else ""


def make_app(source: Source, template: Template, gate: Gate, is_over: Callable[[], bool]) -> ASGIApp:
    """The application; streams of events end when `is_over` does."""
    site = _Site(source, template, is_over)
    routes = [
        Route("/", site.page),
        Route("/events", site.events),
        Route("/data/{key:path}", site.data),
    ]
    return _Guarded(Starlette(routes=routes), gate)


class _Site:
    """The answers to those whom the gate let in."""

    def __init__(self, source: Source, template: Template, is_over: Callable[[], bool]) -> None:
        self._source, self._template, self._is_over = source, template, is_over
        self._version, self._look_at = "", 0.0
        self._looking = asyncio.Lock()

    def page(self, _: Request) -> Response:
        head = self._template.head(self._source.index().title, is_live=True)
        policy = f"{self._template.policy(is_live=True)}; frame-ancestors 'none'"
        body = head + LIVE.encode() + self._template.tail
        return Response(body, media_type="text/html", headers={"Content-Security-Policy": policy})

    def data(self, request: Request) -> Response:
        key = request.path_params["key"]
        data = self._index() if key == INDEX else self._source.chunk(key)
        if data is None:
            return PlainTextResponse("there is nothing of this name", 404)
        return _json(data, request.headers.get("accept-encoding", ""))

    async def events(self, request: Request) -> Response:
        seen = request.headers.get("last-event-id", "")
        return StreamingResponse(self._changes(seen), media_type="text/event-stream")

    def _index(self) -> bytes:
        return encode(replace(self._source.index(), is_live=True))

    async def _changes(self, seen: str) -> AsyncIterator[str]:
        """An event at once, for what changed before anyone listened, and then whenever something changes."""
        said_at = time.monotonic()
        while not self._is_over():
            version = await self._look()
            if version != seen:
                seen, said_at = version, time.monotonic()
                yield f"event: changed\nid: {version}\ndata: {{}}\n\n"
            elif time.monotonic() - said_at > _SAY_SOMETHING_S:
                said_at = time.monotonic()
                yield ": still here\n\n"
            await asyncio.sleep(_TICK_S)

    async def _look(self) -> str:
        """The version, looked up once for all listeners, and less often where looking takes long."""
        async with self._looking:
            if (began := time.monotonic()) >= self._look_at:
                self._version = await run_in_threadpool(self._source.version)
                took_s = time.monotonic() - began
                self._look_at = time.monotonic() + max(_LOOK_EVERY_S, _REST * took_s)
        return self._version


class _Guarded:
    """Lets through what the gate allows; every answer carries the headers that keep it where it belongs."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app, self._gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _with_headers(message.get("headers", ()))
            await send(message)

        try:
            await self._answer(scope)(scope, receive, send_safely)
        except Exception:
            # The browser has had its answer, a 500; whoever started the server sees why.
            traceback.print_exc()

    def _answer(self, scope: Scope) -> ASGIApp:
        if why := self._gate.refusal(scope["headers"]):
            return PlainTextResponse(f"{why}\n", 403)
        path = self._gate.path_behind(scope["path"])
        if path is None:
            return PlainTextResponse(
                "open the whole address that was printed when this server started\n", 403
            )
        if not path:
            return RedirectResponse(f"/{self._gate.token}/")
        scope["path"], scope["root_path"] = path, ""
        return self._app


def _with_headers(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    given = list(headers)
    names = {name.lower() for name, _ in given}
    return given + [(name, value) for name, value in _HEADERS if name not in names]


def _json(data: bytes, accepted: str) -> Response:
    if "gzip" not in accepted or len(data) < _WORTH_COMPRESSING:
        return Response(data, media_type="application/json")
    headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Response(compress(data, _FAST), media_type="application/json", headers=headers)
