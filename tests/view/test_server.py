"""The live page, served by a real process and asked through plain sockets."""

import gzip
import json
import re
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from tests.view.desk import TEMPLATE

from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S
from mngr_view.errors import ViewError
from mngr_view.records import Index
from mngr_view.server import serve

PROGRAM = Path(__file__).with_name("program.py")


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


class Served:
    """A server in a process of its own."""

    def __init__(self, folder: Path, *more: str) -> None:
        self.title = folder / "title"
        self.title.write_text("first")
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(folder), TEMPLATE, *more],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert self.process.stdout
        self.url = self.process.stdout.readline().decode().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([\w-]{20,})/", self.url)
        assert found, self.url
        self.port, self.token = int(found[1]), found[2]

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)

    def send(self, path: str, *headers: str, method: str = "GET", host: str | None = "") -> socket.socket:
        """Asks and leaves the connection open."""
        lines = [f"{method} {path} HTTP/1.1"]
        if host is not None:
            lines.append(f"Host: {host or f'127.0.0.1:{self.port}'}")
        connection = self.connect()
        connection.sendall("\r\n".join([*lines, *headers, "", ""]).encode())
        return connection

    def ask(self, path: str, *headers: str, method: str = "GET", host: str | None = "") -> Answer:
        with self.send(path, "Connection: close", *headers, method=method, host=host) as connection:
            data = b""
            while part := connection.recv(1 << 20):
                data += part
        head, _, body = data.partition(b"\r\n\r\n")
        first, *rest = head.decode().split("\r\n")
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in rest)}
        return Answer(int(first.split()[1]), fields, body)

    def inside(self, path: str) -> str:
        return f"/{self.token}/{path}"

    def listen(self) -> "Listener":
        return Listener(self.send(self.inside("events")))

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


class Listener:
    """Someone who waits for events."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.heard = b""

    def wait_for(self, count: int) -> None:
        """Until so many changes were heard."""
        while self.heard.count(b"event: changed") < count:
            part = self.connection.recv(65536)
            assert part, self.heard
            self.heard += part

    def read_to_end(self) -> None:
        while self.connection.recv(65536):
            pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    found = Served(tmp_path)
    yield found
    found.end()


def assert_safe(answer: Answer) -> None:
    headers = answer.headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    policy = headers["content-security-policy"].split("; ")
    assert policy[0] == "default-src 'none'"
    assert "frame-ancestors 'none'" in policy
    assert "server" not in headers


@pytest.mark.accept("V7", "Q6")
def test_whoever_has_the_address_gets_the_page_and_its_data(served: Served) -> None:
    page = served.ask(served.inside(""))
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert b'<meta name="mngr-live" content="1">' in page.body
    assert b"<title>first</title>" in page.body
    assert_safe(page)
    in_page = re.findall(rb'Content-Security-Policy" content="([^"]*)"', page.body)[0].decode()
    assert page.headers["content-security-policy"] == f"{in_page}; frame-ancestors 'none'"
    assert "connect-src 'self'" in in_page
    index = served.ask(served.inside("data/index"))
    assert msgspec.json.decode(index.body, type=Index) == Index("first", 0.0, (), is_live=True)
    assert_safe(index)
    detail = served.ask(served.inside("data/detail/1"), "Accept-Encoding: br, gzip")
    assert detail.headers["content-encoding"] == "gzip"
    assert json.loads(gzip.decompress(detail.body))["failure"].startswith("it broke")
    assert "content-encoding" not in served.ask(served.inside("data/detail/1")).headers
    assert served.ask(served.inside("data/index"), method="HEAD").body == b""


@pytest.mark.accept("Q6")
def test_it_listens_on_loopback_only(served: Served) -> None:
    listening = [
        line.split()[1]
        for file in ("/proc/net/tcp", "/proc/net/tcp6")
        if Path(file).exists()
        for line in Path(file).read_text().splitlines()[1:]
        if line.split()[1].endswith(f":{served.port:04X}") and line.split()[3] == "0A"
    ]
    assert listening == [f"0100007F:{served.port:04X}"]


@pytest.mark.accept("Q6")
def test_without_the_token_nothing_is_told(served: Served) -> None:
    wrong = served.token[:-1] + ("a" if served.token[-1] != "a" else "b")
    for path in (
        "/",
        "/data/index",
        "/events",
        f"/{wrong}/",
        f"/{wrong}/data/index",
        f"/?token={served.token}",
        f"/{served.token}x/",
        f"//{served.token}/",
        "/%FF/",
    ):
        answer = served.ask(path)
        assert (path, answer.status) == (path, 403)
        assert b"first" not in answer.body
        assert served.token.encode() not in answer.body
        assert_safe(answer)
    assert served.ask(f"/{served.token}").headers["location"] == f"/{served.token}/"


@pytest.mark.accept("Q6")
def test_a_host_that_is_not_this_servers_address_is_refused(served: Served) -> None:
    path, port = served.inside("data/index"), served.port
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port + 1}",
        f"127.0.0.1.evil.example:{port}",
        f"0.0.0.0:{port}",
        None,
    ):
        answer = served.ask(path, host=host)
        assert (host, answer.status in (400, 403)) == (host, True)
        assert b"first" not in answer.body
    twice = served.ask(path, f"Host: 127.0.0.1:{port}", host=f"localhost:{port}")
    assert twice.status in (400, 403)
    for host in (f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"):
        assert served.ask(path, host=host).status == 200


@pytest.mark.accept("Q6")
def test_another_pages_request_is_refused(served: Served) -> None:
    path, port = served.inside("data/index"), served.port
    for origin in (
        "http://evil.example",
        "null",
        f"https://127.0.0.1:{port}",
        f"http://127.0.0.1:{port + 1}",
        f"http://localhost:{port}",
        "",
    ):
        answer = served.ask(path, f"Origin: {origin}")
        assert (origin, answer.status) == (origin, 403)
        assert_safe(answer)
    assert served.ask(path, f"Origin: http://127.0.0.1:{port}").status == 200


@pytest.mark.accept("V4", "Q6")
def test_only_what_the_source_names_is_served(served: Served) -> None:
    for key in ("detail/2", "", "title", "../title", "%2e%2e/title", "/etc/passwd", "index/", "%00"):
        answer = served.ask(served.inside(f"data/{key}"))
        assert (key, answer.status) == (key, 404)
        assert_safe(answer)
    assert served.ask(served.inside("title")).status == 404
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert served.ask(served.inside("data/index"), method=method).status == 405
    for method in ("BREW", "get"):
        answer = served.ask(served.inside("data/index"), method=method)
        assert (answer.status, answer.body) == (501, b"Not Implemented\n")
        assert_safe(answer)


@pytest.mark.accept("Q6")
@pytest.mark.parametrize(
    "sent", [b"\x16\x03\x01\r\n\r\n", b"GET /\r\n\r\n", b"GET  x  HTTP/9.9\r\n\r\n", b"\r\n"]
)
def test_what_is_no_request_is_told_nothing(served: Served, sent: bytes) -> None:
    with served.connect() as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        said = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert len(said) < 1000
    assert not any(word in said for word in (b"200", b"first", b"Python", served.token.encode()))
    assert served.ask(served.inside("data/index")).status == 200


def test_a_source_that_fails_once_fails_one_answer(served: Served) -> None:
    answer = served.ask(served.inside("data/broken"))
    assert answer.status == 500
    assert b"RuntimeError" not in answer.body
    assert_safe(answer)
    assert served.ask(served.inside("data/index")).status == 200
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(PATIENCE_S) == 130
    assert served.process.stderr
    assert b"RuntimeError: this chunk is broken" in served.process.stderr.read()


@pytest.mark.accept("V7")
def test_a_change_is_told_to_all_who_listen(served: Served) -> None:
    listeners = [served.listen() for _ in range(3)]
    for listener in listeners:
        listener.wait_for(1)
    served.title.write_text("second")
    for listener in listeners:
        listener.wait_for(2)
        listener.connection.close()
    assert b"content-type: text/event-stream" in listeners[0].heard
    assert json.loads(served.ask(served.inside("data/index")).body)["title"] == "second"


def test_who_comes_back_having_missed_nothing_is_not_disturbed(served: Served) -> None:
    first = served.listen()
    first.wait_for(1)
    assert b"id: first" in first.heard
    back = Listener(served.send(served.inside("events"), "Last-Event-ID: first"))
    served.title.write_text("second")
    back.wait_for(1)
    assert b"id: second" in back.heard
    assert b"id: first" not in back.heard
    first.connection.close()
    back.connection.close()


@pytest.mark.slow
@pytest.mark.accept("Q6", "V7")
def test_slow_and_vanished_clients_harm_nobody(served: Served) -> None:
    silent = [served.connect() for _ in range(30)]
    slow = [served.send(served.inside("data/cast/long")) for _ in range(5)]
    deaf = [served.send(served.inside("events")) for _ in range(30)]
    for connection in deaf[:15]:
        # A reset instead of a farewell.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    listener = served.listen()
    listener.wait_for(1)
    for number in range(3):
        served.title.write_text(f"title {number}")
        listener.wait_for(number + 2)
    assert served.ask(served.inside("data/detail/1")).status == 200
    for connection in (*silent, *slow, *deaf, listener.connection):
        connection.close()
    assert served.process.poll() is None


@pytest.mark.accept("V7")
def test_ctrl_c_ends_it_at_once_whoever_is_listening(served: Served) -> None:
    listener = served.listen()
    listener.wait_for(1)
    unread = served.send(served.inside("data/cast/long"))
    assert unread.recv(1)
    served.process.send_signal(signal.SIGINT)
    listener.read_to_end()
    assert served.process.wait(PATIENCE_S) == 130
    assert served.process.stderr
    assert served.process.stderr.read() == b""
    with pytest.raises(OSError):
        served.connect()
    unread.close()
    listener.connection.close()


class Nothing:
    """A source with nothing in it."""

    def index(self) -> Index:
        return Index("", 0.0, ())

    def chunk(self, key: str) -> bytes | None:
        return None

    def version(self) -> str:
        return ""


def test_a_taken_port_is_an_error_with_a_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with pytest.raises(ViewError, match="cannot listen on port") as caught:
            serve(Nothing(), port=taken.getsockname()[1], on_ready=print, template=TEMPLATE)
    assert "free one" in caught.value.hint


def test_nothing_more_needs_to_be_installed() -> None:
    """`mngr e2e view`, which every run suggests, asked for packages that no document had named."""
    code = (
        "import sys; sys.modules |= dict.fromkeys(('uvicorn', 'starlette', 'h11', 'anyio'))\n"
        "from mngr_view.server import serve\n"
        "serve(None, on_ready=sys.exit, template=sys.argv[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, TEMPLATE], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.stderr.startswith("http://127.0.0.1:")


def test_two_servers_have_two_tokens(tmp_path: Path, served: Served) -> None:
    (tmp_path / "other").mkdir()
    other = Served(tmp_path / "other")
    try:
        assert other.token != served.token
        assert other.ask(served.inside("")).status == 403
    finally:
        other.end()
    assert wait_until(lambda: other.process.poll() is not None, PATIENCE_S)


STUB = """#!/bin/sh
[ $# -eq 1 ] || exit 1
printf %s "$1" >"$STUB/argv.new"
file=${1#file://}
[ ! -f "$file" ] || { cp "$file" "$STUB/page"; stat -c %a "$file" "${file%/*}" >"$STUB/modes"; }
mv "$STUB/argv.new" "$STUB/argv"
"""


@pytest.mark.accept("Q16")
def test_the_browsers_command_line_lets_nobody_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TH-M8."""
    stub, argv = tmp_path / "browser", tmp_path / "argv"
    stub.write_text(STUB)
    stub.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(stub))
    monkeypatch.setenv("STUB", str(tmp_path))
    served = Served(tmp_path, "open")
    try:
        assert wait_until(argv.exists, PATIENCE_S)
        given = argv.read_text()
        assert served.token not in given
        assert str(served.port) not in given
        assert (tmp_path / "modes").read_text().split() == ["600", "700"]
        # The browser reads the file and follows it; from then on the file is not there.
        found = re.search(r'url=(http://[^"]+)"', (tmp_path / "page").read_text())
        assert found
        assert found[1] == served.url
        file = Path(given.removeprefix("file://"))
        assert file.exists()
        assert served.ask("/").status == 403
        assert served.ask(served.inside(""), host="evil.example").status == 403
        assert served.ask(served.inside(""), "Origin: http://evil.example").status == 403
        assert file.exists()
        assert served.ask(served.inside("")).status == 200
        assert not file.parent.exists()
    finally:
        served.end()


@pytest.mark.accept("Q16")
def test_a_page_that_was_never_asked_for_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TH-M8."""
    private = tmp_path / "run"
    private.mkdir(0o700)
    monkeypatch.setenv("BROWSER", "true")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(private))
    served = Served(tmp_path, "open")
    try:
        assert wait_until(lambda: list(private.iterdir()), PATIENCE_S)
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(PATIENCE_S) == 130
        assert list(private.iterdir()) == []
    finally:
        served.end()
