"""`mngr message`."""

import click
from msgspec.structs import replace

from mngr.actions.message import Messaged, message
from mngr.actions.rows import Row
from mngr.cli.call import Call
from mngr.cli.dry_run import would
from mngr.cli.editor import message_or_editor
from mngr.cli.options import Chosen, dry_run_option, jobs_option, timeout_option, with_targets
from mngr.cli.outcome import TargetOutcome, report
from mngr.cli.stdin import Item
from mngr.cli.targets import do_each
from mngr.cli.verb import verb
from mngr.errors import BlockedError, UsageError
from mngr.model.message import Delivery
from mngr_lib.safe_text import one_line


@verb(
    "message",
    examples="""
        mngr message foo -m "now write the tests"
        mngr message foo "go on"
        mngr message foo bar --message-file task.md
        git diff | mngr message reviewer
        mngr message foo -m "go on" --wait turn --timeout 10m
    """,
)
@with_targets
@click.option("-m", "--message", "text", default=None, metavar="TEXT", help="The message.")
@click.option(
    "--message-file", "file", default=None, metavar="FILE", help="Every byte of a file; - is stdin."
)
@click.option("--edit-message", "edit", is_flag=True, help="Write it in $EDITOR.")
@click.option(
    "--wait", "wait_for", type=click.Choice(["delivered", "turn"]), default="delivered", show_default=True,
    help="Return when it is delivered, or when the turn it starts is over.",
)  # fmt: skip
@timeout_option("With --wait turn: give up (124) after this long.")
@jobs_option
@dry_run_option
def command(
    call: Call,
    chosen: Chosen,
    *,
    text: str | None,
    file: str | None,
    edit: bool,
    wait_for: str,
    timeout_s: float | None,
    jobs: int,
    dry_run: bool,
) -> int:
    """Send text to agents, once, with a receipt: delivered, queued, blocked or unknown.

    Without -m it is read from stdin (one newline at its end is dropped), or written in $EDITOR. A line on
    stdin (target -) may carry its own "message". At most 64 KB; a message that cannot arrive byte by byte is
    refused before anything is sent. Blocked and unknown exit with 7.
    """
    call.output.check(Messaged)
    if dry_run:
        return would(call, chosen, "message")
    given = text is not None or file is not None or edit
    if not given and len(chosen.names) > 1 and len(chosen.names[-1].split()) > 1:
        # No agent has a name with blanks in it: mngr message foo "go on".
        chosen, text, given = replace(chosen, names=chosen.names[:-1]), chosen.names[-1], True
    common = None
    if given or not chosen.from_stdin:
        common = message_or_editor(text, file, edit=edit, stdin_is_free=not chosen.from_stdin)

    def work(item: Item, row: Row) -> TargetOutcome:
        own = item.fields.get("message")
        if common is None and not (isinstance(own, str) and own):
            hint = 'give one with -m, or as "message" in its line'
            raise UsageError(f'no message for "{item.target}"', hint=hint)
        sent = message(row.agent, str(own) if common is None else common, manager=call.manager)
        if sent.receipt.status in (Delivery.BLOCKED, Delivery.UNKNOWN):
            return TargetOutcome(
                item, sent, BlockedError(_text_of(sent), hint=f"look at it: mngr capture {row.agent.name}")
            )
        if wait_for == "turn":
            from mngr.cli.commands.wait import wait_for_turn

            wait_for_turn(call, row, timeout_s)
        return TargetOutcome(item, sent)

    return report(call, chosen, do_each(call, chosen, work, jobs), _text_of)


def _text_of(sent: Messaged) -> str:
    why = f" ({one_line(sent.receipt.why)})" if sent.receipt.why else ""
    return f"{sent.receipt.status.capitalize()} to {one_line(sent.agent.name)}{why}"
