"""`mngr create --foreground`."""

import signal

import msgspec

from mngr.actions.create.create import create
from mngr.actions.create.request import CreateSpec
from mngr.actions.create.steps import AgentDiedError
from mngr.actions.stop import stop
from mngr.actions.targets import resolve_one
from mngr.cli.call import Call
from mngr.cli.follow import follow_screen
from mngr.errors import ExitCode


def in_foreground(call: Call, spec: CreateSpec) -> int:
    """The program's lines as they come, and its own exit code; Ctrl-C stops the agent.

    It is recorded: tmux drops what it has not read yet of a program that ended, unless the pane is piped somewhere.
    """
    spec = msgspec.structs.replace(spec, record=True)
    try:
        agent = create(spec, manager=call.manager).agent
    except AgentDiedError as error:
        agent = error.change.agent
    try:
        follow_screen(call, agent.id)
    except KeyboardInterrupt:
        stop(agent, manager=call.manager)
        return ExitCode.INTERRUPTED
    ended = resolve_one(call.manager, agent.id).agent
    if ended.signal:
        return 128 + int(getattr(signal, ended.signal, 0))
    return ended.exit_code if ended.exit_code is not None else ExitCode.FAILED
