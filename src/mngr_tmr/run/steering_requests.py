"""Hands requests to steer the run from its folder to its loop, and removes those that the journal has."""

import threading
from collections.abc import Callable

from mngr_tmr.engine.state import RunState
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import RunSteered
from mngr_tmr.run_folder.folder import RunFolder
from mngr_tmr.run_folder.requests import remove_request, waiting_requests

_EVERY_S = 0.2


class SteeringRequests:
    """A context manager: while it is open, every request is handed over once, within a fraction of a second."""

    def __init__(
        self, folder: RunFolder, run: RunState, put: Callable[[Entry], None], now: Callable[[], float]
    ) -> None:
        self._folder, self._run, self._put, self._now = folder, run, put, now
        self._over, self._seen = threading.Event(), set[str]()

    def __enter__(self) -> "SteeringRequests":
        threading.Thread(target=self._watch, name="tmr-requests", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.look()

    def look(self) -> list[Entry]:
        """The requests that were not handed over before."""
        found = []
        for entry in waiting_requests(self._folder, self._now()):
            name = entry.fact.request if isinstance(entry.fact, RunSteered) else ""
            if name in self._run.steering.taken:
                remove_request(self._folder, name)
            elif name not in self._seen:
                self._seen.add(name)
                found.append(entry)
        return found

    def _watch(self) -> None:
        while not self._over.wait(_EVERY_S):
            for entry in self.look():
                self._put(entry)
