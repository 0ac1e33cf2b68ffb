"""`mngr transcript`."""

import time

import click
from msgspec import Struct

from mngr.actions.rows import Row
from mngr.actions.targets import resolve_one
from mngr.actions.transcript import transcript
from mngr.cli.call import Call
from mngr.cli.options import Chosen, jobs_option, with_targets
from mngr.cli.outcome import report
from mngr.cli.reader import while_read
from mngr.cli.render import put
from mngr.cli.stdin import Item
from mngr.cli.targets import do_each
from mngr.cli.verb import verb
from mngr.errors import ExitCode, UsageError
from mngr.model.agent import Agent, AgentState
from mngr.model.message import Turn
from mngr_lib.safe_text import one_line, safe_lines

_LOOK_EVERY_S = 0.5
_OVER = (AgentState.DONE, AgentState.STOPPED)


class AgentTranscript(Struct, frozen=True):
    """An agent's conversation."""

    agent: Agent
    turns: tuple[Turn, ...]


@verb(
    "transcript",
    examples="""
        mngr transcript foo
        mngr transcript foo --role agent --tail 1
        mngr transcript foo --follow
        mngr transcript foo --format '{role}\\t{text}'
    """,
)
@with_targets
@click.option(
    "--role", "roles", multiple=True, type=click.Choice(["user", "agent", "tool"]), help="Only this role."
)
@click.option("--tail", type=click.IntRange(0), default=0, metavar="N", help="Only the last N turns.")
@click.option("--follow", is_flag=True, help="Go on with new turns until the agent ends.")
@jobs_option
def command(call: Call, chosen: Chosen, *, roles: tuple[str, ...], tail: int, follow: bool, jobs: int) -> int:
    """Print an agent's conversation, in one form for all agent types."""
    if chosen.is_one:
        call.output.check(Turn)
        name = chosen.names[0]
        turns = transcript(name, roles=roles, tail=tail, manager=call.manager)
        if not follow:
            call.output.many(list(turns), lambda: "\n\n".join(turn_text(turn) for turn in turns))
            return ExitCode.DONE
        _tell(call, turns)
        with while_read():
            agent_id, seen = (
                resolve_one(call.manager, name).agent.id,
                len(transcript(name, roles=roles, manager=call.manager)),
            )
            while True:
                is_over = resolve_one(call.manager, agent_id).agent.state in _OVER
                turns = transcript(agent_id, roles=roles, manager=call.manager)
                _tell(call, turns[seen:])
                seen = len(turns)
                if is_over:
                    return ExitCode.DONE
                time.sleep(_LOOK_EVERY_S)
    if follow:
        raise UsageError("--follow goes with one agent", hint="name one")
    call.output.check(AgentTranscript)

    def work(_: Item, row: Row) -> AgentTranscript:
        return AgentTranscript(
            row.agent, tuple(transcript(row.agent, roles=roles, tail=tail, manager=call.manager))
        )

    outcomes = do_each(call, chosen, work, jobs)
    return report(
        call, chosen, outcomes, lambda answer: "\n\n".join(turn_text(turn) for turn in answer.turns)
    )


def turn_text(turn: Turn) -> str:
    """The role as a heading, the text below."""
    lines = safe_lines(turn.text).rstrip("\n").split("\n")
    return "\n".join([f"{one_line(turn.role)}:", *(f"  {line}".rstrip() for line in lines)])


def _tell(call: Call, turns: list[Turn]) -> None:
    for turn in turns:
        if call.output.is_human:
            put(turn_text(turn))
        else:
            call.output.line(turn)
