"""Records as the page carries them: JSON, compressed, as text that cannot leave its element.

One chunk is held at a time, give or take the few that are being compressed, however many there are.
"""

import binascii
import os
import re
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import msgspec

from mngr_lib.safe_text import storable

INDEX = "index"
_KEY = re.compile(r"[a-z0-9/._-]+")
_LEVEL = 6
_GZIP = 31
_WORKERS = min(4, os.cpu_count() or 1)


def encode(record: object) -> bytes:
    """A record, or the text of a recording, as JSON. Text that UTF-8 cannot hold becomes escapes first."""
    try:
        return msgspec.json.encode(record)
    except UnicodeEncodeError:
        return msgspec.json.encode(storable(msgspec.to_builtins(record)))


def compress(data: bytes, level: int = _LEVEL) -> bytes:
    """Gzip, the same bytes for the same data on every day."""
    return zlib.compress(data, level, wbits=_GZIP)


def elements(chunks: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """One element of the page for each key and its JSON, in their order. A bad or repeated key is a ValueError."""
    seen: set[str] = set()
    waiting: deque[tuple[str, Future[bytes]]] = deque()
    with ThreadPoolExecutor(_WORKERS) as pool:
        for key, data in chunks:
            if not _KEY.fullmatch(key) or key in seen:
                raise ValueError(f"{key!r} cannot be the key of a chunk, or is one already")
            seen.add(key)
            waiting.append((key, pool.submit(compress, data)))
            if len(waiting) > 2 * _WORKERS:
                yield _element(*waiting.popleft())
        while waiting:
            yield _element(*waiting.popleft())


def _element(key: str, packed: "Future[bytes]") -> bytes:
    head = f'<script type="application/octet-stream" data-chunk="{key}">'.encode()
    return head + binascii.b2a_base64(packed.result(), newline=False) + b"</script>\n"
