"""Keeps a run's report up to date while it goes on, in a thread that takes little and delays nothing."""

import threading
import time

import mngr
from mngr_tmr.engine.state import Observe, RunState
from mngr_tmr.model.entry import Entry
from mngr_tmr.report.out.page.source import TmrSource
from mngr_tmr.report.report import try_page, write_summary
from mngr_tmr.run_folder.folder import RunFolder

EVERY_S = 5.0
_SHARE = 30.0


class Reporter:
    """Writes the report at most every few seconds, after something happened, and never more than 1/30 of the time.

    `with Reporter(folder, observe=progress) as reporter:` it observes the loop itself and passes on what it hears.
    """

    def __init__(
        self, folder: RunFolder, *, observe: Observe | None = None, every_s: float = EVERY_S
    ) -> None:
        self._observe = observe
        self._source, self._every_s = TmrSource(folder), every_s
        self._news, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="tmr-report", daemon=True)

    def __enter__(self) -> "Reporter":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Lets a page that is being written be finished, so that no other process writes it at the same time."""
        self._over.set()
        self._news.set()
        self._thread.join()

    def __call__(self, run: RunState, entries: tuple[Entry, ...]) -> None:
        """Something happened; returns at once."""
        if self._observe is not None:
            self._observe(run, entries)
        self._news.set()

    def _work(self) -> None:
        while True:
            self._news.wait()
            self._news.clear()
            if self._over.is_set():
                return
            took_s = self._write()
            if self._over.wait(max(self._every_s, _SHARE * took_s)):
                return

    def _write(self) -> float:
        """One report and how long it took; what fails is tried again later, and the run's end tells it aloud."""
        started = time.monotonic()
        try:
            model = self._source.model()
            write_summary(self._source.folder, model)
            try_page(self._source.folder, self._source, model)
        except (OSError, mngr.MngrError):
            pass
        return time.monotonic() - started
