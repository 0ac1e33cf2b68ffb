"""Starts a run, or takes one up again, and sees it to its end."""

import signal
import threading
from collections.abc import Mapping
from types import FrameType

import msgspec

import mngr
from mngr_tmr.copies.base_snapshot import ensure_base_snapshot
from mngr_tmr.engine.clock import RunClock
from mngr_tmr.engine.journal import read_journal
from mngr_tmr.engine.loop import Loop
from mngr_tmr.engine.state import Observe, RunState, fold
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import RunInterrupted, RunResumed
from mngr_tmr.run.end_hosts import end_idle_hosts
from mngr_tmr.run.ends import end_steps, remove_leftovers, start_hosts, stop_all
from mngr_tmr.run.integration_stage import Integrate, Tell, open_journal, run_stage
from mngr_tmr.run.polling import AgentPoller
from mngr_tmr.run.steps import Steps
from mngr_tmr.run.thread_executor import ThreadExecutor
from mngr_tmr.run_folder.folder import RunFolder, read_spec
from mngr_tmr.run_folder.log import RunLog

# Without a ring. A result that nobody tells of is noticed within a second all the same.
POLL_S = 0.8
_SCREENS_PER_SILENCE = 6


def run_tasks(  # noqa: PLR0913
    folder: RunFolder,
    *,
    manager: mngr.Manager,
    env: Mapping[str, str],
    observe: Observe | None = None,
    resume: RunResumed | None = None,
    tell: Tell = print,
    integrate: Integrate | None = None,
) -> RunState:
    """Runs the tasks of a run to their end, from where its journal stands, and then `integrate`, unless some are left.

    `resume` may hold changed `options` and the tasks to try `again`.
    An interrupt launches nothing more; a second one stops the agents; both leave a run that can be resumed.
    """
    mngr.descriptor_limit()  # a poll of many hosts has pipes to all of them open
    spec = read_spec(folder)
    folder = folder.hiding(env)
    folder.writer.prepare()
    journal = open_journal(folder)
    try:
        folder.writer.sweep()
        entries = read_journal(folder.journal)
        state = fold(spec, entries)
        clock = RunClock(state.last_at)
        resumed = Entry(clock.now(), "run", "noted", message="resumed", fact=resume or RunResumed())
        steps = Steps(state, folder, manager, env)
        notes = [*start_hosts(state, manager), *remove_leftovers(spec, manager, is_resumed=bool(entries))]
        notes += end_idle_hosts(state, manager) if entries else []
        poll = AgentPoller(
            state.addresses, manager, screen_every_s=spec.options.silence_s / _SCREENS_PER_SILENCE
        )
        rang = mngr.Bell(manager).rang
        if entries:
            ensure_base_snapshot(msgspec.structs.replace(spec, options=state.options), env, manager)
        log = RunLog(folder)
        executor = ThreadExecutor(steps.table(), poll, rang, poll_s=POLL_S, clock=clock, log=log.unexpected)
        loop = Loop(state, journal.append, executor, _without_values(folder, observe) if observe else None)
        try:
            with _Interrupts(loop, executor, tell):
                if entries or (resume and resume.options):
                    loop.resume(resumed)
                loop.note(*notes)
                loop.go()
        finally:
            executor.close()
        loop.note(*end_steps(executor.threads(state.in_flight), spec, manager, spec.options.stop_deadline_s))
        if integrates := integrate is not None and state.can_integrate:
            loop.record((Entry(clock.now(), "integrate", "intended"),))
        loop.note(*stop_all(state, manager), *remove_leftovers(spec, manager, is_resumed=bool(entries)))
        loop.note(*end_idle_hosts(state, manager))
        if integrate is not None and integrates:
            run_stage(integrate, lambda entry: loop.record((entry,)), clock.now, log)
        return state
    finally:
        journal.close()


def _without_values(folder: RunFolder, observe: Observe) -> Observe:
    """Whoever is told of entries gets them as the journal has them."""
    return lambda run, entries: observe(run, tuple(map(folder.redactor.record, entries)))


class _Interrupts:
    """Turns Ctrl-C into entries of the journal: the first stops launching, the second the agents, the third us."""

    def __init__(self, loop: Loop, executor: ThreadExecutor, tell: Tell) -> None:
        self._loop, self._executor, self._tell, self._count = loop, executor, tell, 0

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
        self._executor.put(
            Entry(self._executor.now(), "run", "noted", message="interrupted", fact=RunInterrupted(abort))
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
        verb = "runs" if len(run.live) == 1 else "run"
        if abort:
            checks = sum(step == "verify" for step, _ in run.in_flight)
            also = f" and {checks} verification{'s' * (checks > 1)}" if checks else ""
            return (f"stopping {_agents(len(run.live))}{also}; afterwards: {resume}",)
        return (
            f"nothing more is launched. {_agents(len(run.live))} still {verb}: {names or 'none'}",
            f"they are waited for; Ctrl-C again stops them. Later: {resume}",
        )


def _agents(count: int) -> str:
    return "1 agent" if count == 1 else f"{count} agents"
