"""Watching a host: a new look whenever its bell rang, and now and then anyway."""

import os
import time
from collections.abc import Iterator

from mngr.actions.manager import Manager
from mngr.actions.notify import notify
from mngr.actions.rows import Row, look_at
from mngr.hosts.protocol import Host, shares_files
from mngr.store.paths import HostPaths

_TICK_S = 0.1
_LOOK_EVERY_S = 2.0
# Compares contents: busybox's -nt compares whole seconds only.
_LONG_POLL = """
n=0
while { read -r x <"$1"; } 2>/dev/null; [ "$x" = "$2" ] && [ "$n" -lt "$3" ]; do n=$((n + 1)); sleep 0.2; done
echo "$x"
"""


def watch(host: Host, manager: Manager, *, deadline: float | None = None) -> Iterator[tuple[Row, ...]]:
    """Rows of the host, again and again, until the deadline (of time.monotonic) has passed; at least once."""
    bell = _Bell(host)
    while True:
        bell.note()
        rows = look_at(host, manager)
        notify(rows, manager)
        yield rows
        left = float("inf") if deadline is None else deadline - time.monotonic()
        if left <= 0:
            return
        bell.wait(min(_LOOK_EVERY_S, left))


class _Bell:
    def __init__(self, host: Host) -> None:
        self._host, self._path = host, HostPaths(host.dir).bell
        self._is_near, self._seen = shares_files(host), ""

    def note(self) -> None:
        """Remembers the bell as it is before a look, so that what happens during the look is not missed."""
        if self._is_near:
            self._seen = self._stat()

    def wait(self, at_most_s: float) -> None:
        if not self._is_near:
            ticks = str(max(1, int(at_most_s / 0.2)))
            done = self._host.run(
                ["sh", "-c", _LONG_POLL, "mngr-wait", self._path, self._seen, ticks], timeout_s=60
            )
            self._seen = done.text.strip()
            return
        until = time.monotonic() + at_most_s
        while self._stat() == self._seen and time.monotonic() < until:
            time.sleep(_TICK_S)

    def _stat(self) -> str:
        try:
            found = os.stat(self._path)
        except OSError:
            return ""
        return f"{found.st_ino} {found.st_mtime_ns}"
