"""A run on the terminal: one line that is kept up to date, plain lines where there is no terminal, JSON on request."""

import os
import sys
import time
from collections import Counter
from typing import TextIO

import msgspec

from mngr_tmr.engine.state import HOLDS_SLOT, Phase, RunState, TaskState
from mngr_tmr.model.entry import Entry

_REDRAW_S = 0.2
_PLAIN_EVERY_S = 30.0
_WORDS = {
    Phase.QUEUED: "queued",
    Phase.LAUNCHING: "launching",
    Phase.WORKING: "working",
    Phase.ENDING: "pulling",
    Phase.PULLING: "pulling",
    Phase.STOPPING: "stopping",
    Phase.TO_VERIFY: "to verify",
    Phase.VERIFYING: "verifying",
    Phase.ENDED: "ended",
}


class Progress:
    """Told of every entry; says it to a person, or as JSON lines to a program."""

    def __init__(self, form: str = "human", out: TextIO | None = None) -> None:
        self._out = out or sys.stderr
        self.form = form
        self._live = form == "human" and self._out.isatty()
        self._started = time.monotonic()
        self._drawn_at = self._told_at = -1e9

    def __call__(self, run: RunState, entries: tuple[Entry, ...]) -> None:
        if self.form == "jsonl":
            for entry in entries:
                self._write(msgspec.json.encode(entry).decode() + "\n")
            return
        for entry in entries:
            if line := told(run, entry):
                self.say(f"{clock(self._elapsed())} {line}")
        self._draw(run)

    def say(self, line: str) -> None:
        """A line that stays, above the one that is kept up to date; never among JSON."""
        if self.form == "jsonl":
            print(line, file=sys.stderr, flush=True)
            return
        self._write(("\r\x1b[K" if self._live else "") + line + "\n")
        self._drawn_at = -1e9

    def close(self) -> None:
        if self._live:
            self._write("\r\x1b[K")

    def _draw(self, run: RunState) -> None:
        now = time.monotonic()
        if self._live and now - self._drawn_at >= _REDRAW_S:
            self._drawn_at = now
            self._write(f"\r\x1b[K{clock(self._elapsed())} {summary(run)}"[: _columns(self._out)])
        elif not self._live and now - self._told_at >= _PLAIN_EVERY_S:
            self._told_at = now
            self._write(f"{clock(self._elapsed())} {summary(run)}\n")

    def _elapsed(self) -> float:
        return time.monotonic() - self._started

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def summary(run: RunState) -> str:
    """Counts by state, slots, what is slowest."""
    counts = Counter(_WORDS[task.phase] for task in run.tasks.values())
    failed = sum(task.has_failed for task in run.tasks.values())
    parts = [f"{counts.pop('ended', 0)}/{len(run.tasks)} ended" + (f" ({failed} failed)" if failed else "")]
    parts += [f"{count} {word}" for word, count in counts.items()]
    parts.append(f"slots {run.used_slots}/{run.knobs.slots}")
    if slow := slowest(run):
        parts.append(f"slowest {run.names[slow.slug]} {clock(run.last_at - slow.launched_at)}")
    return " · ".join(parts)


def slowest(run: RunState) -> TaskState | None:
    working = [run.tasks[slug] for slug in run.live if run.tasks[slug].phase in HOLDS_SLOT]
    return min(
        (task for task in working if task.launched_at), key=lambda task: task.launched_at, default=None
    )


def told(run: RunState, entry: Entry) -> str:
    """The words for an entry that a person wants to see; most are only for the journal."""
    if not entry.task:
        return f"{entry.step}: {entry.message}" if entry.message and entry.step != "base" else ""
    name, task = run.names[entry.task], run.tasks[entry.task]
    if entry.kind == "failed":
        return f"{name}: {entry.step} failed: {entry.message}"
    if entry.step == "verify" and entry.kind == "done":
        return f"{name}: verified, {entry.data.get('verdict', '')}"
    if entry.step == "stop" and entry.kind == "done" and task.phase == Phase.ENDED and not task.has_failed:
        return f"{name}: done, nothing to verify"
    return ""


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _columns(out: TextIO) -> int:
    try:
        return max(20, os.get_terminal_size(out.fileno()).columns - 1)
    except OSError:
        return 79
