"""`wait`: until agents are done, waiting, idle, stopped, or have a result; each is told as it happens."""

import queue
import threading
import time
from collections.abc import Iterator, Sequence

from msgspec import Struct

from mngr.actions.filter import condition_holds, parse_condition
from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import Row
from mngr.actions.stop import by_host
from mngr.actions.targets import resolve_one
from mngr.actions.watch import watch
from mngr.errors import MngrError, TimedOutError, UnreachableError, UsageError, did_you_mean
from mngr.hosts.protocol import Host
from mngr.model.agent import Agent, AgentState, WaitingReason

WORDS = ("done", "waiting", "idle", "stopped", "result")
# A host that is away may come back; after so long its agents are given up.
_AWAY_S, _AGAIN_S = 60.0, 1.0

# The agents waited for on one host: the row of each, None when it is gone, or why it cannot be known.
_Seen = dict[str, Row | str | None]


class Waited(Struct, frozen=True):
    """An agent when its waiting was over: it reached the condition, or never can."""

    agent: Agent
    reached: bool
    why: str = ""


def wait(
    agents: Agent | str | Sequence[Agent | str],
    *,
    until: str = "",
    any: bool = False,
    timeout_s: float | None = None,
    manager: Manager | None = None,
) -> Iterator[Waited]:
    """Yields each agent when it gets there, or at once when it no longer can; TimedOutError at the deadline.

    Without `until` the first of these counts: a result, its end, a stop, the end of its turn. With `any` one is enough.
    """
    manager = default_manager(manager)
    chosen = [agents] if isinstance(agents, Agent | str) else agents
    return wait_rows(
        [resolve_one(manager, agent) for agent in chosen], check_until(until), any, timeout_s, manager
    )


def check_until(until: str) -> str:
    """The condition itself, or a usage error."""
    if until and until not in WORDS:
        if not set("=~!") & set(until):
            raise UsageError(
                f'cannot wait until "{until}"', hint=did_you_mean(until, [*WORDS, "field=value"])
            )
        parse_condition(until)
    return until


def wait_rows(
    rows: Sequence[Row], until: str, any: bool, timeout_s: float | None, manager: Manager
) -> Iterator[Waited]:
    pending = {row.agent.id: row.agent for row in rows}
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    news: queue.SimpleQueue[_Seen | MngrError | None] = queue.SimpleQueue()
    over = threading.Event()
    groups = by_host(rows)
    for host, group in groups:
        ids = frozenset(row.agent.id for row in group)
        threading.Thread(target=_report, args=(host, ids, manager, deadline, news, over), daemon=True).start()
    ended = 0
    try:
        while pending and ended < len(groups):
            seen = news.get()
            if seen is None:
                ended += 1
            elif isinstance(seen, MngrError):
                raise seen
            else:
                for waited in _judge(pending, seen, until):
                    del pending[waited.agent.id]
                    yield waited
                    if any and waited.reached:
                        return
    finally:
        over.set()
    if pending:
        names = ", ".join(agent.name for agent in pending.values())
        raise TimedOutError(
            f"still waiting for {names} after {timeout_s:g} s", hint=f"see: mngr list {names}"
        )


def _report(
    host: Host,
    ids: frozenset[str],
    manager: Manager,
    deadline: float | None,
    news: "queue.SimpleQueue[_Seen | MngrError | None]",
    over: threading.Event,
) -> None:
    answered_at = time.monotonic()
    while not over.is_set():
        try:
            for rows in watch(host, manager, deadline=deadline):
                if over.is_set():
                    return
                answered_at = time.monotonic()
                found = {row.agent.id: row for row in rows}
                news.put({agent_id: found.get(agent_id) for agent_id in ids})
            news.put(None)
            return
        except (UnreachableError, TimedOutError) as error:
            manager.warn(f"{host.name}.{host.provider}: {error.message}")
            now = time.monotonic()
            if now - answered_at > _AWAY_S:
                news.put(dict.fromkeys(ids, error.message))
            if now - answered_at > _AWAY_S or (deadline is not None and now > deadline):
                news.put(None)
                return
            over.wait(_AGAIN_S)
        except MngrError as error:
            news.put(error)
            return


def _judge(pending: dict[str, Agent], seen: _Seen, until: str) -> list[Waited]:
    over = []
    for agent_id, row in seen.items():
        if agent_id not in pending:
            continue
        if row is None or isinstance(row, str):
            over.append(Waited(pending[agent_id], False, row or "it was destroyed"))
            continue
        verdict = judge(row, until)
        if verdict is not None:
            over.append(Waited(row.agent, verdict == "", verdict))
    return over


def judge(row: Row, until: str) -> str | None:
    """None: not yet. "": reached. Anything else: why it never will be."""
    agent = row.agent
    over = agent.state in (AgentState.DONE, AgentState.STOPPED)
    reached = {
        "": agent.result or over or _is_turn_over(row),
        "done": agent.state == AgentState.DONE,
        "stopped": agent.state == AgentState.STOPPED,
        "waiting": agent.state == AgentState.WAITING and not _is_stale(row),
        "idle": _is_turn_over(row),
        "result": agent.result,
    }
    if until not in reached:
        return "" if condition_holds(until, agent) else None
    if reached[until]:
        return ""
    if over:
        return f"it is {agent.state}"
    if until in ("waiting", "idle") and agent.type == "command":
        return "a plain command never waits"
    if agent.state == AgentState.UNKNOWN and not row.evidence.alive:
        return f"it is UNKNOWN: {agent.why}"
    return None


def _is_turn_over(row: Row) -> bool:
    return (
        row.agent.state == AgentState.WAITING
        and row.agent.waiting_reason == WaitingReason.END_OF_TURN
        and not _is_stale(row)
    )


def _is_stale(row: Row) -> bool:
    """It still waits from before the last message, which it has not taken up yet."""
    folded = row.evidence.folded
    return (folded.message_at or 0) > (folded.activity_at or 0)
