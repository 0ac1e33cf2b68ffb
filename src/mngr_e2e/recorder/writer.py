"""Writes an asciicast v2 file as things happen, and says in `index.jsonl` beside it when exactly it began.

Also a program, `python writer.py FILE COLS ROWS TITLE COMMAND START`, that records its stdin behind `tmux pipe-pane`;
hence it needs nothing but the standard library. START is when the terminal was started, which is before this was.
"""

import codecs
import json
import os
import signal
import sys
import time
from io import BufferedWriter

INDEX = "index.jsonl"


class CastWriter:
    """Writes events as they come; every line is in the file before the next is made."""

    def __init__(
        self, file: BufferedWriter, size: tuple[int, int], title: str, command: str, start: float = 0.0
    ) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        now = time.time()
        start = min(start or now, now)
        self._start = time.monotonic() - (now - start)
        header = {"version": 2, "width": size[0], "height": size[1], "timestamp": int(start), "title": title}
        self._line(header)
        note_start(file.name, start, size, title, command)

    def output(self, data: bytes) -> None:
        """Adds output with the time it came; bytes that are not UTF-8 become replacement characters."""
        if text := self._decoder.decode(data):
            self._event(text)

    def end(self) -> None:
        """Adds an event without text, so that a recording lasts as long as what it recorded."""
        self._event(self._decoder.decode(b"", True))

    def _event(self, text: str) -> None:
        self._line((round(time.monotonic() - self._start, 6), "o", text))

    def _line(self, value: object) -> None:
        self._file.write(json.dumps(value, ensure_ascii=False).encode(errors="replace") + b"\n")
        self._file.flush()


def note_start(cast: str, start: float, size: tuple[int, int], title: str, command: str) -> None:
    """Adds a line on a recording to the index of its folder, in one write; a later line on it counts more.

    Where the disk takes no line, the recording goes on: its header has the second in which it began.
    """
    line = {"file": os.path.basename(cast), "start": start, "title": title}
    line |= {"cols": size[0], "rows": size[1], "command": command}
    try:
        index = os.path.join(os.path.dirname(cast), INDEX)
        place = os.open(index, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(place, json.dumps(line).encode() + b"\n")
        finally:
            os.close(place)
    except OSError:
        pass


def title_of(cast: str) -> str:
    """What a recording is called that was given no name: its file's, without number and ending."""
    return os.path.basename(cast).removesuffix(".cast").partition("-")[2] or os.path.basename(cast)


def main(path: str, cols: str, rows: str, title: str, command: str, start: str) -> None:
    """Copies stdin to a cast until it ends."""
    # It ends with its input: a TERM meant for the recorded program must not cut the recording short.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with open(path, "wb") as file:
        writer = CastWriter(file, (int(cols), int(rows)), title, command, float(start))
        while data := os.read(0, 1 << 16):
            writer.output(data)
        writer.end()


if __name__ == "__main__":
    main(*sys.argv[1:7])
