"""Starts a run, or takes one up again, and sees it to its end."""

import signal
import threading
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import msgspec

import mngr
from mngr_tmr.copies.copy import destroy_copies
from mngr_tmr.copies.hosts import destroy_unfinished
from mngr_tmr.copies.ready import ensure_ready
from mngr_tmr.engine.journal import Journal, JournalBusyError, read_journal
from mngr_tmr.engine.loop import Loop, Observe
from mngr_tmr.engine.state import RunState, fold
from mngr_tmr.model.entry import Entry
from mngr_tmr.run.folder import RunFolder, read_spec
from mngr_tmr.run.hands import RealHands
from mngr_tmr.run.look import LookAround, agents_of
from mngr_tmr.run.steps import Steps

# Without a ring. A result that nobody tells of is noticed within a second all the same.
POLL_S = 0.8
_SCREENS_PER_SILENCE = 6
_LIVE = ("CREATING", "RUNNING", "WAITING", "UNKNOWN")

Tell = Callable[[str], None]


def run_tasks(
    folder: RunFolder,
    *,
    manager: mngr.Manager,
    env: Mapping[str, str],
    observe: Observe | None = None,
    resume: Mapping[str, Any] | None = None,
    tell: Tell = print,
) -> RunState:
    """Runs the tasks of a run to their end, from where its journal stands.

    `resume` may hold changed `knobs` and the tasks to try `again`.
    An interrupt launches nothing more; a second one stops the agents; both leave a run that can be resumed.
    """
    spec = read_spec(folder)
    journal = _open(folder)
    try:
        entries = read_journal(folder.journal)
        state = fold(spec, entries)
        resumed = Entry(state.last_at, "run", "noted", message="resumed", data=dict(resume or {}))
        steps = Steps(state, folder, manager, env)
        look = LookAround(spec.id, manager, screen_every_s=spec.knobs.silence_s / _SCREENS_PER_SILENCE)
        rang = mngr.Bell(manager).rang
        hands = RealHands(steps.table(), look, rang, poll_s=POLL_S, floor=state.last_at)
        loop = Loop(state, journal.append, hands, observe)
        if entries:
            destroy_unfinished(spec, manager)
        destroy_copies(spec.id, manager)
        if entries:
            ensure_ready(msgspec.structs.replace(spec, knobs=state.knobs), env, manager)
        try:
            with _Interrupts(loop, hands, tell):
                if entries:
                    loop.resume(resumed)
                loop.go()
        finally:
            hands.close()
        _sweep(state, manager)
        if entries:
            # What a killed life had asked its engine for may have come late.
            destroy_unfinished(spec, manager)
        return state
    finally:
        journal.close()


def _open(folder: RunFolder) -> Journal:
    try:
        return Journal(folder.journal)
    except JournalBusyError:
        raise mngr.RefusedError(
            "another process is at work on this run", hint=f"watch it: mngr tmr status {folder.path}"
        ) from None


def _sweep(state: RunState, manager: mngr.Manager) -> None:
    """Stops what still runs though its task has ended: a launch that answered too late, a stop that failed."""
    destroy_copies(state.spec.id, manager)
    if state.knobs.keep:
        return
    running = {task.agent for task in state.tasks.values() if task.slug in state.live}
    left = [
        agent
        for agent in agents_of(state.spec.id, manager)
        if agent.state in _LIVE and agent.name not in running
    ]
    if left:
        mngr.stop(left, manager=manager)


class _Interrupts:
    """Turns Ctrl-C into entries of the journal: the first stops launching, the second the agents, the third us."""

    def __init__(self, loop: Loop, hands: RealHands, tell: Tell) -> None:
        self._loop, self._hands, self._tell, self._count = loop, hands, tell, 0

    def __enter__(self) -> None:
        self._is_main = threading.current_thread() is threading.main_thread()
        if self._is_main:
            self._before = signal.signal(signal.SIGINT, self._hear)

    def __exit__(self, *_: object) -> None:
        if self._is_main:
            signal.signal(signal.SIGINT, self._before)

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self._count += 1
        if self._count > 2:
            raise KeyboardInterrupt
        abort = self._count == 2
        self._hands.put(
            Entry(self._hands.now(), "run", "noted", message="interrupted", data={"abort": abort})
        )
        # In a thread: this may have come in the middle of a write to the stream that the lines go to.
        threading.Thread(target=self._say, args=(self._words(abort),), name="tmr-interrupt").start()

    def _say(self, lines: tuple[str, ...]) -> None:
        for line in lines:
            self._tell(line)

    def _words(self, abort: bool) -> tuple[str, ...]:
        run = self._loop.run
        names = ", ".join(run.tasks[slug].agent for slug in run.live)
        resume = f"mngr tmr resume {run.spec.id}"
        if abort:
            return (f"stopping {len(run.live)} agents; afterwards: {resume}",)
        return (
            f"nothing more is launched. {len(run.live)} agents still run: {names or 'none'}",
            f"they are waited for; Ctrl-C again stops them. Later: {resume}",
        )
