"""`mngr events`."""

from collections.abc import Iterable
from datetime import datetime

import click
import msgspec
from msgspec import Struct

from mngr.actions.events import events, follow
from mngr.actions.rows import Row
from mngr.cli.call import Call
from mngr.cli.options import Chosen, jobs_option, with_targets
from mngr.cli.outcome import report
from mngr.cli.reader import while_read
from mngr.cli.render import put
from mngr.cli.stdin import Item
from mngr.cli.targets import do_each
from mngr.cli.verb import verb
from mngr.errors import ExitCode, UsageError
from mngr.model.agent import Agent
from mngr.model.event import Event
from mngr_lib.safe_text import one_line


class EventHistory(Struct, frozen=True):
    """An agent's log."""

    agent: Agent
    events: tuple[Event, ...]


@verb(
    "events",
    examples="""
        mngr events foo
        mngr events foo --follow
        mngr events foo --format jsonl | jq -r .kind
    """,
)
@with_targets
@click.option(
    "--follow", "wants_more", is_flag=True, help="Go on with new events until the agent is destroyed."
)
@jobs_option
def command(call: Call, chosen: Chosen, *, wants_more: bool, jobs: int) -> int:
    """Print what happened to an agent: its append-only log."""
    if chosen.is_one:
        call.output.check(Event)
        name = chosen.names[0]
        if not wants_more and not call.output.is_human:
            call.output.many(list(events(name, manager=call.manager)), str)
            return ExitCode.DONE
        found: Iterable[Event] = (
            follow(name, manager=call.manager) if wants_more else events(name, manager=call.manager)
        )
        with while_read():
            for event in found:
                if call.output.is_human:
                    put(event_text(event))
                else:
                    call.output.line(event)
        return ExitCode.DONE
    if wants_more:
        raise UsageError("--follow goes with one agent", hint="name one")
    call.output.check(EventHistory)

    def work(_: Item, row: Row) -> EventHistory:
        return EventHistory(row.agent, tuple(events(row.agent, manager=call.manager)))

    def text_of(history: EventHistory) -> str:
        return "\n".join(
            [f"{one_line(history.agent.name)}:", *(f"  {event_text(event)}" for event in history.events)]
        )

    return report(call, chosen, do_each(call, chosen, work, jobs), text_of)


def event_text(event: Event) -> str:
    """Time, kind, and what there is to say."""
    at = datetime.fromtimestamp(event.at).isoformat(sep=" ", timespec="milliseconds")
    data = "  " + msgspec.json.encode(event.data).decode() if event.data else ""
    return one_line(f"{at}  {event.kind}{data}")
