"""Watching a host: a new look whenever its bell rang, and now and then anyway."""

import re
import time
from collections.abc import Iterator

from mngr.actions.bell import Bell
from mngr.actions.manager import Manager
from mngr.actions.notify import notify
from mngr.actions.rows import Row, look_at, rows_from, watchdog_s
from mngr.hosts.protocol import Host, shares_files
from mngr.process import wait_until
from mngr.store.paths import HostPaths
from mngr.store.probe import long_probe_argv

_TICK_S = 0.1
_CHECKSUM = re.compile(rb"[0-9]{1,20}-[0-9]{1,20}-?\Z")
_LOOK_EVERY_S = 2.0
# A remote machine looks at itself and answers when there is news, at the latest after this.
_LONG_POLL_S, _ANSWER_S = 15.0, 30.0


def watch(host: Host, manager: Manager, *, deadline: float | None = None) -> Iterator[tuple[Row, ...]]:
    """Rows of the host, again and again, until the deadline (of time.monotonic) has passed; at least once."""
    eye = _Near(host, manager) if shares_files(host) else _Far(host, manager)
    left_s = 0.0
    while True:
        rows = eye.look(left_s)
        notify(rows, manager)
        yield rows
        left_s = float("inf") if deadline is None else deadline - time.monotonic()
        if left_s <= 0:
            return


class _Near:
    """Waits for the bell here, then looks."""

    def __init__(self, host: Host, manager: Manager) -> None:
        self._host, self._manager, self._bell = host, manager, Bell(manager)

    def look(self, at_most_s: float) -> tuple[Row, ...]:
        wait_until(self._bell.rang, min(_LOOK_EVERY_S, at_most_s), every_s=_TICK_S)
        return look_at(self._host, self._manager)


class _Far:
    """One long poll: the host itself waits for its bell and looks, and says it when there is something new."""

    def __init__(self, host: Host, manager: Manager) -> None:
        self._host, self._manager, self._seen = host, manager, ""

    def look(self, at_most_s: float) -> tuple[Row, ...]:
        wait_s = min(_LONG_POLL_S, at_most_s)
        deadline_s = wait_s + _ANSWER_S
        argv = long_probe_argv(
            HostPaths(self._host.dir), self._seen, wait_s, ends_after_s=watchdog_s(self._host, deadline_s)
        )
        done = self._host.run(argv, timeout_s=deadline_s)
        first, _, rest = done.stdout.partition(b"\n")
        self._seen = first.decode() if _CHECKSUM.match(first) else ""
        return rows_from(done._replace(stdout=rest), self._host, self._manager)
