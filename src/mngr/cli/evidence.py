"""`mngr list --explain`: the evidence for each state."""

from collections.abc import Sequence

import msgspec

from mngr.actions.explain import explain
from mngr.actions.rows import Row, key_of
from mngr.cli.call import Call
from mngr.cli.render import put, state_text
from mngr.model.agent import Agent
from mngr_lib.safe_text import one_line


def show_evidence(call: Call, agents: Sequence[Agent], rows: dict[tuple[str, ...], Row]) -> None:
    lines = {
        agent.id: explain(rows[key_of(agent)]) if key_of(agent) in rows else (agent.why,) for agent in agents
    }
    if not call.output.is_human:
        call.output.many(
            [{**msgspec.to_builtins(agent), "evidence": list(lines[agent.id])} for agent in agents], str
        )
        return
    for agent in agents:
        put(f"{one_line(agent.name)}: {one_line(state_text(agent))}")
        for line in lines[agent.id]:
            put(f"  {one_line(line)}")
