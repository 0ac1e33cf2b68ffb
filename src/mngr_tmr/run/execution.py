"""Executes a run, from its beginning or from where it was interrupted."""

import os
import signal
import threading
from collections.abc import Mapping
from functools import partial
from types import FrameType

from msgspec.structs import replace

import mngr
from mngr_tmr.copies.base_snapshot import ensure_base_snapshot
from mngr_tmr.engine.clock import RunClock
from mngr_tmr.engine.journal import read_journal
from mngr_tmr.engine.loop import Loop
from mngr_tmr.engine.state import Observe, RunState, fold
from mngr_tmr.history.spending import used_today
from mngr_tmr.model.alerts import NO_ALERTS, AlertTargets
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import DaySpent, RunInterrupted, RunResumed
from mngr_tmr.run.alerts import send_alert
from mngr_tmr.run.end_hosts import end_idle_hosts
from mngr_tmr.run.ends import end_steps, remove_leftovers, start_hosts, stop_all
from mngr_tmr.run.integration_stage import Integrate, Tell, open_journal, run_stage
from mngr_tmr.run.polling import AgentPoller
from mngr_tmr.run.steering_requests import SteeringRequests
from mngr_tmr.run.steps import TaskSteps
from mngr_tmr.run.thread_executor import ThreadExecutor
from mngr_tmr.run_folder.folder import RunFolder, read_spec
from mngr_tmr.run_folder.log import RunLog

# How often agents are polled without a bell: a result that rings none is noticed within a second.
POLL_S = 0.8
_SCREENS_PER_SILENCE = 6


class Execution:
    """A run whose journal this process holds: runs its tasks, then integrates what they gave. A context manager."""

    def __init__(
        self,
        folder: RunFolder,
        *,
        manager: mngr.Manager,
        env: Mapping[str, str],
        observe: Observe | None = None,
        alerts: AlertTargets = NO_ALERTS,
    ) -> None:
        self._folder, self._manager, self._env = folder.hiding(env), manager, env
        self._alerts = alerts
        self._observe, self._log = observe, RunLog(self._folder)

    def __enter__(self) -> "Execution":
        """Opens the journal and reads where the run stands; refused while another process holds it."""
        mngr.descriptor_limit()  # a poll of many hosts has pipes to all of them open
        folder = self._folder
        self._spec = read_spec(folder)
        folder.writer.prepare()
        self._journal = open_journal(folder)
        try:
            folder.writer.sweep()
            entries = read_journal(folder.journal)
            self._has_begun = bool(entries)
            self.state = fold(self._spec, entries)
        except BaseException:
            self._journal.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    def run_tasks(self, tell: Tell, resume: RunResumed | None = None, *, integrates: bool = False) -> None:
        """Runs the tasks to their end, from where the journal stands; nothing of the run runs afterwards.

        `resume` may hold changed options and the tasks to try again. An interrupt launches nothing more; a second one
        stops the agents; both leave a run that can be resumed. With `integrates`, the journal says that the
        integration is next, if it is.
        """
        spec, state, manager, folder = self._spec, self.state, self._manager, self._folder
        clock = RunClock(state.last_at)
        resumed = Entry(clock.now(), "run", "noted", message="resumed", fact=resume or RunResumed())
        steps = TaskSteps(
            state,
            folder,
            manager,
            self._env,
            lambda failures: executor.put(Entry(clock.now(), "base", "noted", fact=failures)),
        )
        notes = [*start_hosts(state, manager), *remove_leftovers(spec, manager, is_resumed=self._has_begun)]
        notes += end_idle_hosts(state, manager) if self._has_begun else []
        poll = AgentPoller(
            state.addresses, manager, screen_every_s=spec.options.silence_s / _SCREENS_PER_SILENCE
        )
        rang = mngr.Bell(manager).rang
        if self._has_begun:
            ensure_base_snapshot(replace(spec, options=state.options), self._env, manager)
        log = self._log.unexpected
        alert = partial(send_alert, self._alerts, spec.id, folder.redactor)
        executor = ThreadExecutor(
            {**steps.table(), "alert": alert}, poll, rang, poll_s=POLL_S, clock=clock, log=log
        )
        self._loop = loop = Loop(state, self._journal.append, executor, self._observe_redacted)
        requests = SteeringRequests(folder, state, executor.put, executor.now)
        try:
            # What was asked of a process that is gone comes before the resume, which goes on with what was paused.
            loop.handle(requests.look())
            with _Interrupts(loop, executor, tell), requests:
                if self._has_begun or (resume and resume.options):
                    loop.resume(resumed)
                if state.options.limits.daily_budget:
                    used = used_today(os.path.dirname(folder.path), clock.now())
                    loop.record((Entry(clock.now(), "run", "noted", fact=DaySpent(used)),))
                loop.note(*notes)
                loop.go()
        finally:
            executor.close()
        loop.note(*end_steps(executor.threads(state.in_flight), spec, manager, spec.options.stop_deadline_s))
        if integrates and state.can_integrate:
            loop.record((Entry(clock.now(), "integrate", "intended"),))
        loop.note(*stop_all(state, manager), *remove_leftovers(spec, manager, is_resumed=self._has_begun))
        loop.note(*end_idle_hosts(state, manager))
        self._now = clock.now

    def integrate(self, build: Integrate) -> None:
        """Integrates after `run_tasks`; its steps and its end become entries of the journal."""
        run_stage(build, lambda entry: self._loop.record((entry,)), self._now, self._log)

    def _observe_redacted(self, run: RunState, entries: tuple[Entry, ...]) -> None:
        """Passes entries on as the journal has them, without values of secrets."""
        if self._observe:
            self._observe(run, tuple(self._folder.redactor.record(entry) for entry in entries))


def run_tasks(
    folder: RunFolder,
    *,
    manager: mngr.Manager,
    env: Mapping[str, str],
    observe: Observe | None = None,
    resume: RunResumed | None = None,
    tell: Tell = print,
) -> RunState:
    """Runs only the tasks of a run, and returns their state."""
    with Execution(folder, manager=manager, env=env, observe=observe) as execution:
        execution.run_tasks(tell, resume)
        return execution.state


class _Interrupts:
    """Turns Ctrl-C into entries of the journal: the first stops launching, the second agents, the third us."""

    def __init__(self, loop: Loop, executor: ThreadExecutor, tell: Tell) -> None:
        self._loop, self._executor, self._tell, self._count = loop, executor, tell, 0

    def __enter__(self) -> None:
        self._is_main = threading.current_thread() is threading.main_thread()
        if self._is_main:
            self._before = signal.signal(signal.SIGINT, self._handle)

    def __exit__(self, *_: object) -> None:
        if self._is_main:
            signal.signal(signal.SIGINT, self._before)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
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
