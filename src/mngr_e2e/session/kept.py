"""What is kept of a command's output: of a flood the beginning and the end, with the rest counted."""

from collections import deque
from collections.abc import Callable

from msgspec import Struct

from mngr_e2e.session.runner import Chunk, StreamName


class KeptStream(Struct):
    """One stream: its first bytes, its last ones as they pass, and how many fell between."""

    head_left: int
    tail_limit: int
    head: list[Chunk]
    tail: deque[Chunk]
    tail_size: int = 0
    left_out: int = 0

    @property
    def text(self) -> str:
        """All that was kept; where something was left out a line says so, lest the two ends be taken for one text."""
        first, last = (b"".join(chunk.data for chunk in part) for part in (self.head, self.tail))
        gap = f"\n… {self.left_out} bytes left out …\n".encode() if self.left_out else b""
        return (first + gap + last).decode(errors="replace")

    def add_to_tail(self, chunk: Chunk) -> None:
        self.tail.append(chunk)
        self.tail_size += len(chunk.data)
        while self.tail_size > self.tail_limit:
            first, over = self.tail.popleft(), self.tail_size - self.tail_limit
            removed = min(over, len(first.data))
            if removed < len(first.data):
                self.tail.appendleft(Chunk(first.stream, first.at, first.data[removed:]))
            self.tail_size -= removed
            self.left_out += removed


class Kept:
    """Hears a command to its end and keeps at most `limit` bytes of each stream; `tell` hears the beginning at once."""

    def __init__(self, limit: int, tell: Callable[[Chunk], None]) -> None:
        self._tell = tell
        self.streams: dict[StreamName, KeptStream] = {
            name: KeptStream(limit - limit // 2, limit // 2, [], deque()) for name in ("stdout", "stderr")
        }

    def hear(self, chunk: Chunk) -> None:
        stream = self.streams[chunk.stream]
        first, rest = chunk.data[: stream.head_left], chunk.data[stream.head_left :]
        if first:
            stream.head_left -= len(first)
            stream.head.append(Chunk(chunk.stream, chunk.at, first))
            self._tell(stream.head[-1])
        if rest:
            stream.add_to_tail(Chunk(chunk.stream, chunk.at, rest))

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """What was kept of both streams, as it came."""
        kept = [chunk for stream in self.streams.values() for chunk in (*stream.head, *stream.tail)]
        return tuple(sorted(kept, key=lambda chunk: chunk.at))

    def left_out(self, name: StreamName) -> int:
        return self.streams[name].left_out
