"""Serves the records in a folder: `index` and chunks, as JSON. Prints its address."""

import os
import sys
from contextlib import suppress

import msgspec

from mngr_view.records import Index
from mngr_view.server import serve


class Folder:
    """Files named like chunks; a new index, moved into place, is a change."""

    def __init__(self, path: str) -> None:
        self._path = path

    def index(self) -> Index:
        return msgspec.json.decode(self._read("index"), type=Index)

    def chunk(self, key: str) -> bytes | None:
        try:
            return self._read(key.replace("/", "-"))
        except FileNotFoundError:
            return None

    def version(self) -> str:
        return str(os.stat(os.path.join(self._path, "index")).st_mtime_ns)

    def _read(self, name: str) -> bytes:
        with open(os.path.join(self._path, name), "rb") as file:
            return file.read()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        serve(Folder(sys.argv[1]), on_ready=lambda url: print(url, flush=True))
