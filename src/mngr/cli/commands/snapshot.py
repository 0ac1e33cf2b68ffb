"""`mngr snapshot`."""

import click
import msgspec

from mngr.actions.snapshots.snapshot import (
    Snapshot,
    create_snapshot,
    destroy_snapshot,
    find_snapshot,
    list_snapshots,
    restore_snapshot,
    snapshot_target,
    snapshot_to_destroy,
)
from mngr.actions.targets import agent_of_directory
from mngr.cli.call import Call
from mngr.cli.confirm import confirm
from mngr.cli.dry_run import would
from mngr.cli.options import JOBS, Chosen, dry_run_option, yes_option
from mngr.cli.outcome import report
from mngr.cli.render import change_text
from mngr.cli.stdin import read_items
from mngr.cli.table import align
from mngr.cli.targets import do_each
from mngr.cli.terminal_text import columns
from mngr.cli.verb import VerbGroup, verb
from mngr.errors import ExitCode, UsageError
from mngr.model.agent import Change
from mngr_lib.safe_text import one_line


@verb(
    "create",
    examples="""
        mngr snapshot create foo before-refactoring
        mngr snapshot create my-snapshot
        mngr list --running --format jsonl | mngr snapshot create -
    """,
)
@click.argument("agent", metavar="[AGENT|-]", required=False, default="")
@click.argument("name", metavar="[NAME]", required=False, default="")
@click.option("--name", "named", default="", metavar="NAME", help="The same as the second word.")
@dry_run_option
def create_command(call: Call, *, agent: str, name: str, named: str, dry_run: bool) -> int:
    """Keep an agent's work tree and state as they are now.

    The environment it was given is kept too, secrets included, in files that only you can read, and stays when the
    agent is destroyed; mngr snapshot destroy removes it.

    A single word that names no agent is the snapshot's name, for the agent of this directory or the only one.
    """
    call.output.check(Snapshot)
    if named:
        if name:
            raise UsageError(f'two names: "{name}" and "{named}"', hint="give one")
        # A single word would be the name of the snapshot.
        agent, name = agent or agent_of_directory(call.manager).id, named
    if agent == "-":
        if name:
            raise UsageError("several snapshots cannot have one name", hint="leave it out: each gets its own")
        each = Chosen((agent,))
        if dry_run:
            return would(call, each, "make a snapshot of")
        made = do_each(call, each, lambda _, row: create_snapshot(row.agent, manager=call.manager), JOBS)
        return report(call, each, made, _made_text)
    found, name = snapshot_target([word for word in (agent, name) if word], manager=call.manager)
    if dry_run:
        record = {"agent": found.name, "name": name, "changed": False}
        call.output.one(record, lambda: f"Would make a snapshot of {one_line(found.name)}")
        return ExitCode.DONE
    snapshot = create_snapshot(found, name, manager=call.manager)
    call.output.one(snapshot, lambda: _made_text(snapshot))
    return ExitCode.DONE


def _made_text(snapshot: Snapshot) -> str:
    return f"Snapshot {one_line(snapshot.name)} of {one_line(snapshot.agent_name)}"


@verb("list", examples="mngr snapshot list\nmngr snapshot list foo --json")
@click.argument("agent", metavar="[AGENT|-]", required=False, default="")
def list_command(call: Call, *, agent: str) -> int:
    """Show snapshots, of one agent, of those on stdin (-) or of all."""
    call.output.check(Snapshot)
    if agent == "-":
        named = {item.target for items in read_items() for item in items}
        every = list_snapshots(manager=call.manager)
        found = [one for one in every if {one.agent_id, one.agent_name} & named]
    else:
        found = list(list_snapshots(agent or None, manager=call.manager))

    def human() -> str:
        if not found:
            return "No snapshots. Make one: mngr snapshot create AGENT NAME"
        rows = [[one.name, one.agent_name, one.created_at or ""] for one in found]
        return align([["NAME", "AGENT", "MADE"], *rows], columns())

    call.output.many(found, human)
    return ExitCode.DONE


@verb(
    "restore",
    examples="mngr snapshot restore before-refactoring\nmngr snapshot restore before-refactoring --dry-run",
)
@click.argument("name")
@click.argument("agent", required=False, default="")
@dry_run_option
def restore_command(call: Call, *, name: str, agent: str, dry_run: bool) -> int:
    """Put an agent back to a snapshot.

    Its files become what they were, and what they are now is kept as another snapshot. A running agent is stopped
    for that and started again. AGENT tells snapshots of the same name apart.
    """
    call.output.check(Change)
    if dry_run:
        find_snapshot(name, manager=call.manager)
        call.output.one({"name": name, "changed": False}, lambda: f"Would restore {one_line(name)}")
        return ExitCode.DONE
    change = restore_snapshot(name, agent or None, manager=call.manager)
    call.output.one(change, lambda: change_text("Restored", change))
    return ExitCode.DONE


@verb(
    "destroy",
    examples="mngr snapshot destroy before-refactoring\nmngr snapshot destroy before-refactoring --yes",
)
@click.argument("name")
@yes_option
@dry_run_option
def destroy_command(call: Call, *, name: str, yes: bool, dry_run: bool) -> int:
    """Remove a snapshot, also one whose host is gone."""
    found = snapshot_to_destroy(name, manager=call.manager)
    if not dry_run:
        confirm(f"destroy snapshot {name}?", yes=yes)
        destroy_snapshot(name, manager=call.manager)
    record = {**msgspec.to_builtins(found), "changed": not dry_run}
    call.output.one(
        record, lambda: f"{'Would destroy' if dry_run else 'Destroyed'} snapshot {one_line(name)}"
    )
    return ExitCode.DONE


command = VerbGroup(
    "snapshot",
    [create_command, list_command, restore_command, destroy_command],
    help="Checkpoints of an agent's work tree and state.",
)
