"""`mngr connect`."""

import os
import sys

import click

from mngr.actions.connect import ConnectPlan, plan_connect
from mngr.actions.environment import RECURSION_GUARD
from mngr.actions.list import list_agents
from mngr.actions.manager import Manager
from mngr.actions.targets import resolve_one
from mngr.cli.call import Call
from mngr.cli.confirm import ask
from mngr.cli.options import connect_command_option
from mngr.cli.render import put_styled
from mngr.cli.table import agents_table
from mngr.cli.terminal_text import columns, is_interactive, wants_colour
from mngr.cli.verb import verb
from mngr.errors import NotFoundError, RefusedError, UsageError
from mngr.model.agent import Agent, AgentState
from mngr.process import replace_ourselves, run_in_terminal
from mngr_lib.safe_text import one_line

_ENDED = (AgentState.STOPPED, AgentState.DONE)


@verb(
    "connect",
    examples="""
        mngr connect foo
        mngr connect foo --read-only
        mngr connect
        mngr connect foo --start
    """,
)
@click.argument("agent", required=False)
@click.option("--read-only", is_flag=True, help="Look, and type nothing.")
@click.option("--start", is_flag=True, help="Start it first when it is stopped.")
@connect_command_option
def command(call: Call, *, agent: str | None, read_only: bool, start: bool, connect_command: str) -> int:
    """Attach this terminal to an agent; Ctrl-Q detaches.

    Without a name, choose from a list. A connect_command from the config runs instead of attaching; it gets the
    agent's identity in its environment (mngr help env).
    """
    command = connect_command or configured_command(call)
    if not command or os.environ.get(RECURSION_GUARD):
        check_terminal()
    name = agent or _pick(call)
    if not start and resolve_one(call.manager, name).agent.state == AgentState.STOPPED and is_interactive():
        start = ask(f"{name} is stopped. Start it? [y/N] ").lower() in ("y", "yes")
    plan = plan_connect(name, read_only=read_only, start=start, command=command, manager=call.manager)
    return run_plan(plan)


def configured_command(call: Call) -> str:
    """The connect command of the config: `create`'s counts for `connect` too."""
    config = call.manager.config
    return str(
        config.get("commands.connect.connect_command") or config.get("commands.create.connect_command") or ""
    )


def run_plan(plan: ConnectPlan) -> int:
    """Runs the connect command and returns its code, or becomes the attached terminal."""
    if plan.command:
        return run_in_terminal(["sh", "-c", plan.command], env=plan.env)
    check_terminal()
    replace_ourselves(plan.argv)


def attach(agent: Agent, command: str, manager: Manager) -> int:
    """Connects to an agent that was just made."""
    return run_plan(plan_connect(agent, command=command, manager=manager))


def check_terminal() -> None:
    """Refuses what tmux would refuse, with a hint."""
    if os.environ.get("TMUX"):
        raise RefusedError(
            "this terminal is inside tmux already",
            hint="detach first, or nest on purpose: env -u TMUX mngr connect …",
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("connect needs a terminal", hint="mngr capture NAME prints the screen instead")


def _pick(call: Call) -> str:
    agents = [agent for agent in list_agents(manager=call.manager).agents if agent.state not in _ENDED]
    if not is_interactive():
        raise UsageError("which agent?", hint="mngr connect NAME; without a name it asks, on a terminal")
    if not agents:
        raise NotFoundError("no agent runs", hint="mngr create NAME -- PROGRAM; mngr list shows stopped ones")
    if len(agents) == 1:
        return agents[0].id
    lines = agents_table(agents, colour=wants_colour(sys.stderr), cells=columns() - 5).split("\n")
    menu = "\n".join(
        [f"     {lines[0]}", *(f"{number:>3}  {line}" for number, line in enumerate(lines[1:], 1))]
    )
    put_styled(menu, sys.stderr)
    return chosen_from(agents, ask("Number or name: "))


def chosen_from(agents: list[Agent], answer: str) -> str:
    """The agent a number or a name stands for."""
    if answer.isascii() and answer.isdigit() and 1 <= int(answer) <= len(agents):
        return agents[int(answer) - 1].id
    if not answer:
        raise UsageError("nothing chosen")
    return one_line(answer)
