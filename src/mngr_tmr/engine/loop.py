"""The loop of a run: decide, write it down, act; handle what happened, write it down."""

from collections.abc import Callable, Iterable

from mngr_tmr.engine.answer import answers
from mngr_tmr.engine.decide import decide
from mngr_tmr.engine.executor import Executor
from mngr_tmr.engine.journal import JournalError, storable
from mngr_tmr.engine.observation import Poll
from mngr_tmr.engine.state import Observe, RunState
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import RunPaused, RunSteered

_TICK_S = 1.0
_NO_SPACE_S = 600.0
# Two decisions are about a tick apart. More means that the machine slept or the process was stopped.
_PAUSE_S = 4 * _TICK_S

Append = Callable[..., None]


class Loop:
    """Runs a run to its end, or as far as an interrupt lets it."""

    def __init__(
        self, run: RunState, append: Append, executor: Executor, observe: Observe | None = None
    ) -> None:
        self.run, self._append, self._executor = run, append, executor
        self._observe = observe or _ignore
        self._backlog: list[Entry | Poll] = []
        self._decided_at: float | None = None
        self._problem = ""

    def resume(self, entry: Entry) -> None:
        """Begins again what was under way when the journal ended; a nudge is not sent twice."""
        self.record((entry,))
        for intention in list(self.run.in_flight.values()):
            if intention.step == "nudge":
                done = Entry(
                    self._executor.now(), "nudge", "done", intention.task, intention.attempt, "perhaps sent"
                )
                self.record((done,))
            else:
                self._executor.begin(intention)

    def go(self) -> RunState:
        """Runs until every task has ended, or every running one if launching was stopped; returns the state."""
        while not self.run.is_over:
            self.run_due()
            if not self.run.is_over:
                results, self._backlog = self._backlog or self._executor.results(_TICK_S), []
                self.handle(results)
        return self.run

    def run_due(self) -> None:
        """Decides, records and begins steps until no more are due."""
        while entries := tuple(decide(self.run, self._now())):
            self.record(entries)
            for entry in entries:
                if entry.kind == "intended":
                    self._executor.begin(entry)

    def _now(self) -> float:
        """The current time. A gap since the last decision is recorded as a pause and counts for no agent."""
        now, before = self._executor.now(), self._decided_at
        self._decided_at = now
        if before is not None and now - before >= _PAUSE_S:
            self.record((Entry(now, "run", "noted", message="paused", fact=RunPaused(before)),))
        return now

    def handle(self, results: Iterable[Entry | Poll]) -> None:
        """Records outcomes and applies polls to the state."""
        entries: list[Entry] = []
        for item in results:
            if isinstance(item, Poll):
                self.run.apply_poll(item)
            elif isinstance(item.fact, RunSteered):
                self.record(tuple(entries))  # whether it can be done depends on what came before it
                entries = list(answers(self.run, item))
            else:
                entries.append(item)
        self.record(tuple(entries))

    def note(self, *messages: str) -> None:
        """Records notes about the whole run; they change nothing in its state."""
        if messages:
            self.record(tuple(Entry(self._executor.now(), "run", "noted", message=text) for text in messages))

    def record(self, entries: tuple[Entry, ...]) -> None:
        """Writes entries to the journal, then applies them. Waits while the disk is full: nothing is done unwritten."""
        if not entries:
            return
        entries = tuple(map(storable, entries))
        deadline = self._executor.now() + _NO_SPACE_S
        while not self._is_written(entries, is_last_try=self._executor.now() >= deadline):
            self._backlog += self._executor.results(_TICK_S)
        for entry in entries:
            self.run.apply(entry)
        self._show(entries)

    def _show(self, entries: tuple[Entry, ...]) -> None:
        """Calls the observer. Its failure is noted in the journal once; a broken pipe ends the run."""
        try:
            self._observe(self.run, entries)
        except BrokenPipeError:
            raise
        except Exception as error:
            problem = f"showing the run failed: {type(error).__name__}: {error}"
            if problem != self._problem:
                self._problem = problem
                self.note(problem)

    def _is_written(self, entries: tuple[Entry, ...], *, is_last_try: bool) -> bool:
        try:
            self._append(*entries)
        except JournalError as error:
            if is_last_try:
                raise
            note = Entry(self._executor.now(), "run", "noted", message=f"{error}; waiting for it")
            self._show((note,))
            return False
        return True


def _ignore(_run: RunState, _entries: tuple[Entry, ...]) -> None:
    pass
