"""`mngr list --watch`: the table redrawn on every change, or a line per change where there is no terminal."""

import sys
import time
from collections.abc import Callable, Sequence

from mngr.actions.bell import Bell
from mngr.actions.filter import Filter
from mngr.actions.list import Listing, look_and_list
from mngr.actions.notify import notify
from mngr.cli.call import Call
from mngr.cli.reader import while_read
from mngr.cli.render import put, put_styled, state_text
from mngr.cli.table import agents_table, needs_me
from mngr.cli.terminal_text import columns, wants_colour
from mngr.model.agent import Agent
from mngr.process import wait_until
from mngr_lib.safe_text import one_line

_LOOK_EVERY_S = 2.0
_CLEAR = "\x1b[H\x1b[2J"

Choose = Callable[[Listing], Sequence[Agent]]


@while_read()
def watch_agents(call: Call, filter: Filter, choose: Choose) -> int:
    """Until Ctrl-C, or until its reader is gone."""
    shown: dict[str, Agent] | None = None
    on_terminal = call.output.is_human and sys.stdout.isatty()
    bell = Bell(call.manager)
    while True:
        listing, rows = look_and_list(filter, manager=call.manager)
        notify(rows.values(), call.manager)
        agents = choose(listing)
        now = {agent.id: agent for agent in agents}
        if on_terminal:
            if now != shown:
                table = (
                    agents_table(agents, colour=wants_colour(sys.stdout), cells=columns(), marked=True)
                    if agents
                    else ""
                )
                waiting = sum(needs_me(agent) for agent in agents)
                foot = f"{len(agents)} agents, {waiting} marked > want a look. Ctrl-C ends this."
                put_styled(
                    f"{_CLEAR}{table}\n\n{foot}" if agents else f"{_CLEAR}No agents. Ctrl-C ends this."
                )
        else:
            _tell_changes(call, shown or {}, now)
        shown = now
        wait_until(bell.rang, _LOOK_EVERY_S, every_s=0.1)


def changes(before: dict[str, Agent], now: dict[str, Agent]) -> list[tuple[Agent | None, Agent | None]]:
    """Who came, changed state or went, as (before, now)."""
    found: list[tuple[Agent | None, Agent | None]] = []
    for agent_id, new in now.items():
        old = before.get(agent_id)
        if old is None or state_text(old) != state_text(new):
            found.append((old, new))
    return found + [(old, None) for agent_id, old in before.items() if agent_id not in now]


def _tell_changes(call: Call, before: dict[str, Agent], now: dict[str, Agent]) -> None:
    for old, new in changes(before, now):
        if not call.output.is_human:
            if new is not None:
                call.output.line(new)
            continue
        agent = new or old
        assert agent
        states = " -> ".join(state_text(one) if one else "gone" for one in (old, new) if one or old)
        mark = "  needs you" if new and needs_me(new) else ""
        put(f"{time.strftime('%H:%M:%S')} {one_line(agent.name)}: {one_line(states)}{mark}")
