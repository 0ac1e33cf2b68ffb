"""Serves a small source in a process of its own: `python program.py FOLDER TEMPLATE [open]`; prints the address.

The title is in FOLDER/title; changing it is a change of the index.
"""

import sys
from pathlib import Path

from mngr_view.chunks import encode
from mngr_view.records import Detail, Index
from mngr_view.server import serve

LONG = "x" * 30_000_000


class FolderSource:
    """A title that changes, one detail, and a chunk that is long."""

    def __init__(self, folder: Path) -> None:
        self._title = folder / "title"

    def index(self) -> Index:
        return Index(self.version(), 0.0, ())

    def chunk(self, key: str) -> bytes | None:
        if key == "cast/long":
            return encode(LONG)
        if key == "broken":
            raise RuntimeError("this chunk is broken")
        return encode(Detail((), failure="it broke" * 1000)) if key == "detail/1" else None

    def version(self) -> str:
        return self._title.read_text()


if __name__ == "__main__":
    try:
        serve(
            FolderSource(Path(sys.argv[1])),
            on_ready=lambda url: print(url, flush=True),
            opens="open" in sys.argv[3:],
            template=sys.argv[2],
        )
    except KeyboardInterrupt:
        sys.exit(130)
