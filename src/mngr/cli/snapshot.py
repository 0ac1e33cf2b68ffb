"""`mngr snapshot`."""

import os

import click

from mngr.actions.list import list_agents
from mngr.actions.snapshot import (
    Snapshot,
    create_snapshot,
    destroy_snapshot,
    list_snapshots,
    restore_snapshot,
)
from mngr.actions.targets import resolve_one
from mngr.cli.call import Call
from mngr.cli.changes import change_text
from mngr.cli.confirm import confirm
from mngr.cli.options import dry_run_option, yes_option
from mngr.cli.screen import columns, visible
from mngr.cli.table import align
from mngr.cli.verb import VerbGroup, verb
from mngr.errors import ExitCode, NotFoundError, UsageError
from mngr.model.agent import Agent, Change


@verb("create", examples="mngr snapshot create foo before-refactoring\nmngr snapshot create my-snapshot")
@click.argument("agent", metavar="[AGENT]", required=False, default="")
@click.argument("name", metavar="[NAME]", required=False, default="")
@dry_run_option
def create_command(call: Call, *, agent: str, name: str, dry_run: bool) -> int:
    """Keep an agent's work tree and state as they are now.

    A single word that names no agent is the snapshot's name, for the agent of this directory or the only one.
    """
    call.output.check(Snapshot)
    found, name = _meant(call, agent, name)
    if dry_run:
        said = {"agent": found.name, "name": name, "changed": False}
        call.output.one(said, lambda: f"Would make a snapshot of {visible(found.name)}")
        return ExitCode.DONE
    made = create_snapshot(found, name, manager=call.manager)
    call.output.one(made, lambda: f"Snapshot {visible(made.name)} of {visible(found.name)}")
    return ExitCode.DONE


@verb("list", examples="mngr snapshot list\nmngr snapshot list foo --json")
@click.argument("agent", required=False, default="")
def list_command(call: Call, *, agent: str) -> int:
    """Show snapshots, of one agent or all."""
    call.output.check(Snapshot)
    found = list(list_snapshots(agent or None, manager=call.manager))

    def human() -> str:
        if not found:
            return "No snapshots. Make one: mngr snapshot create AGENT NAME"
        rows = [[visible(one.name), visible(one.agent_name), one.created_at or ""] for one in found]
        return align([["NAME", "AGENT", "MADE"], *rows], columns())

    call.output.many(found, human)
    return ExitCode.DONE


@verb("restore", examples="mngr snapshot restore before-refactoring")
@click.argument("name")
@yes_option
@dry_run_option
def restore_command(call: Call, *, name: str, yes: bool, dry_run: bool) -> int:
    """Put an agent's work tree and state back to a snapshot; what came after is lost."""
    call.output.check(Change)
    if dry_run:
        _find(call, name)
        call.output.one({"name": name, "changed": False}, lambda: f"Would restore {visible(name)}")
        return ExitCode.DONE
    confirm(f"put the agent back to {name}, and lose what came after?", yes=yes)
    change = restore_snapshot(name, manager=call.manager)
    call.output.one(change, lambda: change_text("Restored", change))
    return ExitCode.DONE


@verb("destroy", examples="mngr snapshot destroy before-refactoring --yes")
@click.argument("name")
@yes_option
@dry_run_option
def destroy_command(call: Call, *, name: str, yes: bool, dry_run: bool) -> int:
    """Remove a snapshot."""
    _find(call, name)
    record = {"name": name, "changed": not dry_run}
    if not dry_run:
        confirm(f"destroy snapshot {name}?", yes=yes)
        destroy_snapshot(name, manager=call.manager)
    call.output.one(record, lambda: f"{'Would destroy' if dry_run else 'Destroyed'} snapshot {visible(name)}")
    return ExitCode.DONE


def _meant(call: Call, agent: str, name: str) -> tuple[Agent, str]:
    if agent and name:
        return resolve_one(call.manager, agent).agent, name
    if agent:
        try:
            return resolve_one(call.manager, agent).agent, ""
        except NotFoundError:
            name = agent
    return _agent_of_here(call), name


def _agent_of_here(call: Call) -> Agent:
    agents = list_agents(manager=call.manager).agents
    own = os.environ.get("MNGR_AGENT_ID", "")
    here = [agent for agent in agents if agent.id == own or _is_within(call.manager.cwd, agent.work_dir)]
    if len(here) == 1 or len(agents) == 1:
        return (here or list(agents))[0]
    raise UsageError("which agent?", hint="mngr snapshot create AGENT NAME; mngr list shows them")


def _is_within(path: str, folder: str) -> bool:
    return bool(folder) and (os.path.realpath(path) + "/").startswith(os.path.realpath(folder) + "/")


def _find(call: Call, name: str) -> Snapshot:
    for one in list_snapshots(manager=call.manager):
        if one.name == name:
            return one
    raise NotFoundError(f'no snapshot "{name}"', hint="mngr snapshot list")


command = VerbGroup(
    "snapshot",
    [create_command, list_command, restore_command, destroy_command],
    help="Checkpoints of an agent's work tree and state.",
)
