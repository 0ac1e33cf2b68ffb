"""Words that must pass unharmed, and how the suite looks at what happened."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from mngr.hosts.protocol import Host
from mngr.process import Stream, wait_until

T = TypeVar("T")

SLACK_S = 45.0
"""How late an answer may be on a busy machine before it counts as hanging."""

_NOT_UTF8 = b"\xff\xfe".decode("utf-8", "surrogateescape")
HARMLESS_WORDS = (
    *(
        "",
        " ",
        "a b",
        " lead",
        "trail ",
        "'",
        '"',
        "\\",
        "\\n",
        "a\nb",
        "\n",
        "\t",
        "$HOME",
        "$(echo x)",
        "`echo x`",
    ),
    *("*", "~", "-n", "--", "a=b", "%s", ";", "&", "|", "#", "!", "ü→🦊", "\x01\x1b[31m", _NOT_UTF8),
)
ODD_NAMES = ("with space", "new\nline", "ü→🦊", "quote'\"", "$(echo x)", "-dash", "*", f"raw {_NOT_UTF8}")

PRINT_ARGS = ("sh", "-c", 'for word; do printf "%s\\0" "$word"; done', "sh")


def raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@contextmanager
def raising(*kinds: type[BaseException]) -> Iterator[None]:
    """Fails unless the block raises one of the kinds."""
    try:
        yield
    except kinds:
        return
    raise AssertionError(f"did not raise {' or '.join(kind.__name__ for kind in kinds)}")


@contextmanager
def streaming(
    host: Host, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
) -> Iterator[Stream]:
    """A stream that is ended with the block."""
    stream = host.stream(argv, env=env, cwd=cwd)
    try:
        yield stream
    finally:
        stream.kill()


@contextmanager
def stdin_holding(data: bytes) -> Iterator[int]:
    """Puts `data` on our own standard input, where no command of a host may find it."""
    kept = os.dup(0)
    reader, writer = os.pipe()
    os.write(writer, data)
    os.dup2(reader, 0)
    try:
        yield reader
    finally:
        os.dup2(kept, 0)
        for fd in (kept, reader, writer):
            os.close(fd)


def is_alive(host: Host, pid: str) -> bool:
    """Whether a process of the host lives; a zombie does not."""
    script = 'kill -0 "$1" 2>/dev/null && ! grep -sq "^State:.Z" "/proc/$1/status"'
    return host.run(["sh", "-c", script, "sh", pid]).code == 0


def assert_gone(host: Host, pids: Sequence[str]) -> None:
    assert pids
    assert wait_until(lambda: not any(is_alive(host, pid) for pid in pids), SLACK_S), f"{pids} live on"


def names_in(host: Host, path: str) -> list[str]:
    return host.run(["ls", "-A", path]).check("ls").text.splitlines()
