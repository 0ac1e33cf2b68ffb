"""Executes the steps of a run: a thread per step, and one that polls all agents."""

import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence

import mngr
from mngr_tmr.engine.clock import RunClock
from mngr_tmr.engine.observation import Poll
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import AnyFact, HostFailed, ProviderRefusal
from mngr_tmr.run_folder.log import error_text

Step = Callable[[Entry], AnyFact | None]
PollAgents = Callable[[float], Poll]
Rang = Callable[[], bool]

_TICK_S = 0.1
# Also when everything rings, polling takes at most a third of the time.
_REST_S, _REST_SHARE, _STORM_S = 0.25, 2, 30.0
_OF_HOSTS = (mngr.UnreachableError, mngr.TimedOutError)
_NO_BELL = "waiting for the next poll failed, and polling goes on"


class ThreadExecutor:
    """Every step has a thread of its own, so that one that hangs holds up nothing but its own task."""

    def __init__(
        self,
        steps: dict[str, Step],
        poll: PollAgents,
        rang: Rang,
        *,
        poll_s: float,
        clock: RunClock | None = None,
        log: Callable[[str, Exception], None] = lambda _doing, _error: None,
    ) -> None:
        """`log` is called with every error of a step or a poll, and what was being done."""
        self._steps, self._poll, self._rang, self._poll_s = steps, poll, rang, poll_s
        self._clock, self._log = clock or RunClock(), log
        self._results: queue.SimpleQueue[Entry | Poll] = queue.SimpleQueue()
        self._over = threading.Event()
        self._problems: dict[str, str] = {}
        self._threads: dict[tuple[str, str], threading.Thread] = {}
        threading.Thread(target=self._watch, name="tmr-watch", daemon=True).start()

    def now(self) -> float:
        return self._clock.now()

    def begin(self, intention: Entry) -> None:
        name = f"tmr-{intention.step}-{intention.task}"
        thread = threading.Thread(target=self._carry_out, args=(intention,), name=name, daemon=True)
        self._threads[intention.step, intention.task] = thread
        try:
            thread.start()
        except RuntimeError as error:  # the system has no thread for it now
            self._results.put(self._refused(intention, mngr.CapacityError(str(error))))

    def threads(self, steps: Iterable[tuple[str, str]]) -> list[threading.Thread]:
        """The threads of these steps, each a step and its task."""
        return [self._threads[step] for step in steps if step in self._threads]

    def results(self, timeout_s: float) -> Sequence[Entry | Poll]:
        try:
            items = [self._results.get(timeout=timeout_s)]
        except queue.Empty:
            return ()
        while not self._results.empty():
            items.append(self._results.get_nowait())
        return items

    def put(self, entry: Entry) -> None:
        """News from outside, such as an interrupt; safe in a signal handler."""
        self._results.put(entry)

    def close(self) -> None:
        """Ends the polling; a step that still hangs goes with the process."""
        self._over.set()

    def _carry_out(self, intention: Entry) -> None:
        step, task, attempt = intention.step, intention.task, intention.attempt
        fact: AnyFact | None
        try:
            fact = self._steps[step](intention)
        except mngr.CapacityError as error:
            self._results.put(self._refused(intention, error))
        except Exception as error:
            self._log(f"{step} {task} (attempt {attempt})", error)
            fact = HostFailed() if isinstance(error, _OF_HOSTS) else None
            self._results.put(Entry(self.now(), step, "failed", task, attempt, error_text(error), fact))
        else:
            self._results.put(Entry(self.now(), step, "done", task, attempt, fact=fact))

    def _refused(self, intention: Entry, error: mngr.CapacityError) -> Entry:
        step, task, attempt = intention.step, intention.task, intention.attempt
        fact = ProviderRefusal(error.retry_after_s, secrets.randbits(32))
        return Entry(self.now(), step, "later", task, attempt, error_text(error), fact)

    def _watch(self) -> None:
        """Polls until `close`; what a poll or the wait for the next one raises is noted, and polling goes on."""
        while not self._over.is_set():
            started = time.monotonic()
            try:
                poll = self._try_poll(self.now())
                self._note("polling the agents failed", poll.problem)
                self._results.put(poll)
                took_s = time.monotonic() - started
                self._over.wait(min(max(_REST_S, _REST_SHARE * took_s), _STORM_S))
                self._listen(until=started + self._poll_s)
                self._note(_NO_BELL, "")
            except Exception as error:
                self._note(_NO_BELL, error_text(error))
                self._over.wait(self._poll_s)

    def _note(self, what: str, problem: str) -> None:
        """Notes a problem of this kind in the journal, unless it is the one that was noted last."""
        if problem and problem != self._problems.get(what):
            self._results.put(Entry(self.now(), "run", "noted", message=f"{what}: {problem}"))
        self._problems[what] = problem

    def _try_poll(self, at: float) -> Poll:
        """A poll; one that fails is an incomplete poll without agents, so that nothing is concluded from it."""
        try:
            return self._poll(at)
        except Exception as error:
            self._log("polling the agents", error)
            return Poll(at, {}, is_whole=False, problem=error_text(error))

    def _listen(self, until: float) -> None:
        """Waits for the bell, or until the next poll is due."""
        while not self._rang() and time.monotonic() < until:
            if self._over.wait(_TICK_S):
                return
