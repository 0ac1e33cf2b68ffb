"""The loop of a run: decide, write it down, act; hear what happened, write it down."""

from collections.abc import Callable, Iterable

from mngr_tmr.engine.decide import decide
from mngr_tmr.engine.hands import Hands
from mngr_tmr.engine.journal import JournalError
from mngr_tmr.engine.sight import Look
from mngr_tmr.engine.state import RunState
from mngr_tmr.model.entry import Entry

_TICK_S = 1.0
_NO_SPACE_S = 600.0

Append = Callable[..., None]
Observe = Callable[[RunState, tuple[Entry, ...]], None]


class Loop:
    """Runs a run to its end, or as far as an interrupt lets it."""

    def __init__(self, run: RunState, append: Append, hands: Hands, observe: Observe | None = None) -> None:
        self.run, self._append, self._hands = run, append, hands
        self._observe = observe or _ignore
        self._backlog: list[Entry | Look] = []

    def resume(self, entry: Entry) -> None:
        """Takes up what was under way when the journal broke off; a nudge is not sent twice."""
        self.record((entry,))
        for intention in list(self.run.in_flight.values()):
            if intention.step == "nudge":
                done = Entry(
                    self._hands.now(), "nudge", "done", intention.task, intention.attempt, "perhaps sent"
                )
                self.record((done,))
            else:
                self._hands.begin(intention)

    def go(self) -> RunState:
        """Until everything has ended, or all that was left running when launching was forbidden."""
        while not self.run.is_over:
            self.settle()
            if not self.run.is_over:
                news, self._backlog = self._backlog or self._hands.news(_TICK_S), []
                self.hear(news)
        return self.run

    def settle(self) -> None:
        """Decides and acts until nothing more is due."""
        while entries := tuple(decide(self.run, self._hands.now())):
            self.record(entries)
            for entry in entries:
                if entry.kind == "intended":
                    self._hands.begin(entry)

    def hear(self, news: Iterable[Entry | Look]) -> None:
        entries = []
        for item in news:
            if isinstance(item, Look):
                self.run.see(item)
            else:
                entries.append(item)
        if entries:
            self.record(tuple(entries))

    def record(self, entries: tuple[Entry, ...]) -> None:
        """Onto the disk first, then into the state. A full disk is waited for: nothing is done unwritten."""
        deadline = self._hands.now() + _NO_SPACE_S
        while not self._is_written(entries, is_last_try=self._hands.now() >= deadline):
            self._backlog += self._hands.news(_TICK_S)
        for entry in entries:
            self.run.apply(entry)
        self._observe(self.run, entries)

    def _is_written(self, entries: tuple[Entry, ...], *, is_last_try: bool) -> bool:
        try:
            self._append(*entries)
        except JournalError as error:
            if is_last_try:
                raise
            note = Entry(self._hands.now(), "run", "noted", message=f"{error}; waiting for it")
            self._observe(self.run, (note,))
            return False
        return True


def _ignore(_run: RunState, _entries: tuple[Entry, ...]) -> None:
    pass
