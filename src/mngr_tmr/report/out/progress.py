"""A run on the terminal: one line that is kept up to date, plain lines where there is no terminal, JSON on request."""

import os
import shlex
import sys
import time
from collections import Counter
from typing import TextIO

from mngr_lib.safe_text import one_line, raw
from mngr_tmr.engine.clock import clock_time
from mngr_tmr.engine.state import RunState
from mngr_tmr.engine.task_state import HOLDS_SLOT, TaskPhase, TaskState
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import (
    AgentAsks,
    AgentLimited,
    LaunchingStopped,
    RunPaused,
    RunSteered,
    TaskRetried,
    VerdictsFound,
)
from mngr_tmr.report.out.budget_lines import budget_words
from mngr_tmr.run_folder.redact import NOTHING_TO_HIDE, Redactor

_REDRAW_S = 0.2
_PLAIN_EVERY_S = 30.0
_WORDS = {
    TaskPhase.QUEUED: "queued",
    TaskPhase.LAUNCHING: "launching",
    TaskPhase.WORKING: "working",
    TaskPhase.ENDING: "pulling",
    TaskPhase.PULLING: "pulling",
    TaskPhase.STOPPING: "stopping",
    TaskPhase.TO_VERIFY: "to verify",
    TaskPhase.VERIFYING: "verifying",
    TaskPhase.ENDED: "ended",
}


class Progress:
    """Told of every entry; says it to a person, or as JSON lines to a program."""

    def __init__(
        self, form: str = "human", out: TextIO | None = None, redactor: Redactor = NOTHING_TO_HIDE
    ) -> None:
        self._out = out or sys.stderr
        self.form, self._redactor = form, redactor
        self._live = form == "human" and self._out.isatty()
        self._started = time.monotonic()
        self._drawn_at = self._told_at = -1e9

    def __call__(self, run: RunState, entries: tuple[Entry, ...]) -> None:
        if self.form == "jsonl":
            for entry in entries:
                self._write(self._redactor.json(entry).decode() + "\n")
            return
        for entry in entries:
            if line := entry_line(run, entry):
                self.say(f"{clock(self._elapsed())} {line}")
        self._draw(run)

    def say(self, line: str) -> None:
        """A line that stays, above the one that is kept up to date; never among JSON."""
        line = self._redactor.text(line)
        if self.form == "jsonl":
            print(one_line(line), file=sys.stderr, flush=True)
            return
        self._clear()
        self._write(one_line(line) + "\n")
        self._drawn_at = -1e9

    def close(self) -> None:
        self._clear()

    def _draw(self, run: RunState) -> None:
        now = time.monotonic()
        if self._live and now - self._drawn_at >= _REDRAW_S:
            self._drawn_at = now
            self._clear()
            try:
                cells = max(20, os.get_terminal_size(self._out.fileno()).columns - 1)
            except OSError:
                cells = 79
            self._write(one_line(f"{clock(self._elapsed())} {summary(run)}")[:cells])
        elif not self._live and now - self._told_at >= _PLAIN_EVERY_S:
            self._told_at = now
            self._write(f"{clock(self._elapsed())} {summary(run)}\n")

    def _elapsed(self) -> float:
        return time.monotonic() - self._started

    def _clear(self) -> None:
        """Removes the line that is kept up to date."""
        if self._live:
            raw(self._out).write("\r\x1b[K")

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def summary(run: RunState) -> str:
    """Counts by state, slots, what is slowest."""
    counts = Counter(
        "needs you" if task.asks else "silent" if task.silent_since else _WORDS[task.phase]
        for task in run.tasks.values()
    )
    failed = sum(task.has_failed for task in run.tasks.values())
    parts = [f"{counts.pop('ended', 0)}/{len(run.tasks)} ended" + (f" ({failed} failed)" if failed else "")]
    parts += [f"{count} {word}" for word, count in counts.items()]
    if run.integration.progress == "running":
        return " · ".join([*parts, f"integrating: {run.integration.step}"])
    parts.append(f"slots {run.used_slots}/{run.allowed_slots}")
    limited = sum(bool(task.limited_at) for task in run.tasks.values())
    parts += [f"{limited} waiting for a limit of the model"] if limited else []
    if run.last_at < run.slots.closed_until:
        parts.append(f"waits until {clock_time(run.slots.closed_until, run.last_at)}")
    if run.steering.paused_at:
        parts.append(f"paused by {run.steering.paused_by}")
    if money := budget_words(run.budget.rules, run.budget.spent):
        parts.append(money)
    if run.capacity.rounds:
        parts.append("waiting for capacity")
    if slow := slowest(run):
        parts.append(f"slowest {run.names[slow.slug]} {clock(run.counted_s(slow.launched_at, run.last_at))}")
    return " · ".join(parts)


def slowest(run: RunState) -> TaskState | None:
    working = [run.tasks[slug] for slug in run.live if run.tasks[slug].phase in HOLDS_SLOT]
    return min(
        (task for task in working if task.launched_at), key=lambda task: task.launched_at, default=None
    )


def entry_line(run: RunState, entry: Entry) -> str:
    """The words for an entry that a person wants to see; most are only for the journal."""
    if entry.step == "integrate":
        words = {"intended": "integrating", "noted": "integrating", "failed": "integration failed"}
        return ": ".join(filter(None, (words.get(entry.kind, ""), entry.message)))
    fact = entry.fact
    if isinstance(fact, RunPaused):
        return f"run: stood still for {clock(entry.at - fact.since)}; agents get that time back"
    if isinstance(fact, LaunchingStopped):
        return f"nothing more is launched: {fact.reason}"
    if entry.kind == "later":
        is_first = run.capacity.rounds == 1 and run.capacity.began_with == (entry.step, entry.task)
        return f"waiting for capacity: {entry.message}" if is_first else ""
    if not entry.task:
        return f"{entry.step}: {entry.message}" if entry.message and entry.step != "base" else ""
    name, task = run.names[entry.task], run.tasks[entry.task]
    if isinstance(fact, RunSteered | TaskRetried | AgentLimited):
        return limit_line(run, entry, fact) if isinstance(fact, AgentLimited) else f"{name}: {entry.message}"
    if isinstance(fact, AgentAsks) and fact.asks:
        answer = answer_command(task.agent, task.asks)
        return f"{name} needs you: {entry.message} (answer: {answer}; see it: mngr connect {task.agent})"
    if entry.kind == "failed":
        return f"{name}: {entry.step} failed: {entry.message}"
    if isinstance(fact, VerdictsFound):
        verdicts = fact.verdicts or {entry.task: fact.verdict}
        if fix := task.fix or (task.tried[-1] if task.phase == TaskPhase.QUEUED and task.tried else ""):
            words = {slug: "fixed" if one == "passed" else "not fixed" for slug, one in verdicts.items()}
            return "; ".join(f"{run.names[slug]}: {word} by {run.names[fix]}" for slug, word in words.items())
        return "; ".join(f"{run.names[slug]}: verified, {verdict}" for slug, verdict in verdicts.items())
    if (
        entry.step == "stop"
        and entry.kind == "done"
        and task.phase == TaskPhase.ENDED
        and not task.has_failed
    ):
        return f"{name}: done, nothing to verify"
    return ""


def limit_line(run: RunState, entry: Entry, fact: AgentLimited) -> str:
    """Only the first agent that meets a closed usage window tells of it."""
    is_first = run.slots.closed_by == entry.task and fact.until >= run.slots.closed_until
    until = f"waits until {clock_time(fact.until, entry.at)}"
    return f"{until}: the usage window is closed: {entry.message}" if fact.is_window and is_first else ""


def answer_command(agent: str, asks: str) -> str:
    """The command that answers what an agent waits for."""
    return f"mngr message {shlex.quote(agent)} -m {'yes' if asks == 'permission' else 'TEXT'}"


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
