"""`mngr wait`."""

import queue
import threading
import time
from collections.abc import Iterator

import click
from msgspec import Struct

from mngr.actions.rows import Row
from mngr.actions.wait import check_until, wait_rows
from mngr.cli.call import Call
from mngr.cli.options import Chosen, timeout_option, with_targets
from mngr.cli.outcome import TargetOutcome, report
from mngr.cli.reader import while_read
from mngr.cli.render import state_text
from mngr.cli.stdin import Item
from mngr.cli.targets import Meant, find
from mngr.cli.verb import verb
from mngr.errors import ExitCode, MngrError, TimedOutError
from mngr.model.agent import Agent
from mngr_lib.safe_text import one_line


class WaitedAgent(Struct, frozen=True):
    """An agent when the waiting for it was over; `reason` says why it did not get there."""

    agent: Agent
    reached: bool
    reason: str = ""


class WaitCondition(Struct, frozen=True):
    """What is waited for; `deadline` is of time.monotonic."""

    until: str
    any: bool
    timeout_s: float | None
    deadline: float | None

    def left_s(self) -> float | None:
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())


@verb(
    "wait",
    examples="""
        mngr wait foo
        mngr wait foo bar --until done --timeout 10m
        mngr wait --all --any --until waiting
        mngr create - <tasks.jsonl | mngr wait - | mngr pull -
    """,
)
@with_targets
@click.option(
    "--until",
    default="",
    metavar="CONDITION",
    help="done, waiting, idle, stopped, result or 'field=value'; "
    "default: the first of result, done, stopped and end of turn.",
)
@click.option("--any", "any", is_flag=True, help="One of them is enough.")
@timeout_option("Give up (124) after this long.")
def command(call: Call, chosen: Chosen, *, until: str, any: bool, timeout_s: float | None) -> int:
    """Wait for agents and print each as it gets there.

    A condition that can no longer come returns at once, with exit code 1 and the state.
    """
    call.output.check(WaitedAgent)
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    condition = WaitCondition(check_until(until), any, timeout_s, deadline)
    outcomes = _outcomes(call, chosen, condition)
    reached: list[TargetOutcome] = []

    def seen() -> Iterator[TargetOutcome]:
        for outcome in outcomes:
            yield outcome
            if outcome.error is None:
                reached.append(outcome)
                if any:
                    return

    with while_read():
        code = report(
            call,
            chosen,
            seen(),
            lambda ended: f"{one_line(ended.agent.name)}: {one_line(state_text(ended.agent))}",
        )
    return ExitCode.DONE if any and reached else code


def wait_for_turn(call: Call, row: Row, timeout_s: float | None) -> None:
    """Until the agent's turn is over, after a message to it; an agent that ends instead is an error."""
    for waited in wait_rows([row], "idle", False, timeout_s, call.manager):
        if not waited.reached:
            raise MngrError(
                f'the turn of "{row.agent.name}" did not end: {waited.why}', hint="see: mngr list"
            )


def _outcomes(call: Call, chosen: Chosen, condition: WaitCondition) -> Iterator[TargetOutcome]:
    """With lines on stdin it waits for what has come while more may come: a thread per group of lines."""
    if not chosen.from_stdin:
        for meant, missing in find(call, chosen):
            yield from missing
            yield from _wait_for(call, meant, condition)
        return
    crowd = _Crowd()

    def read() -> Iterator[TargetOutcome]:
        for meant, missing in find(call, chosen):
            crowd.start(_wait_for(call, meant, condition))
            yield from missing

    crowd.start(read())
    yield from crowd.outcomes()


class _Crowd:
    """Threads that deliver outcomes, and may start more threads before they end."""

    def __init__(self) -> None:
        self._news: queue.SimpleQueue[TargetOutcome | BaseException | None] = queue.SimpleQueue()
        self._running = 0
        self._lock = threading.Lock()

    def start(self, work: Iterator[TargetOutcome]) -> None:
        with self._lock:
            self._running += 1
        threading.Thread(target=self._follow, args=(work,), daemon=True).start()

    def outcomes(self) -> Iterator[TargetOutcome]:
        while self._running:
            outcome = self._news.get()
            if isinstance(outcome, BaseException):
                raise outcome
            if outcome is not None:
                yield outcome
                continue
            with self._lock:
                self._running -= 1

    def _follow(self, work: Iterator[TargetOutcome]) -> None:
        try:
            for outcome in work:
                self._news.put(outcome)
            self._news.put(None)
        except BaseException as error:
            self._news.put(error)


def _wait_for(call: Call, meant: list[Meant], condition: WaitCondition) -> Iterator[TargetOutcome]:
    if not meant:
        return
    pending: dict[str, tuple[Row, list[Item]]] = {}
    for item, row in meant:
        pending.setdefault(row.agent.id, (row, []))[1].append(item)
    rows = [row for row, _ in pending.values()]
    try:
        for waited in wait_rows(rows, condition.until, condition.any, condition.left_s(), call.manager):
            error: MngrError | None = None
            if not waited.reached:
                error = MngrError(f'"{waited.agent.name}" will not get there: {waited.why}')
            result = WaitedAgent(waited.agent, waited.reached, waited.why)
            for item in pending.pop(waited.agent.id)[1]:
                yield TargetOutcome(item, result, error)
    except TimedOutError:
        for row, items in pending.values():
            problem = f'"{row.agent.name}" is not there after {condition.timeout_s:g} s'
            error = TimedOutError(problem, hint=f"see: mngr list {row.agent.name}")
            for item in items:
                yield TargetOutcome(item, WaitedAgent(row.agent, False, "timed out"), error)
