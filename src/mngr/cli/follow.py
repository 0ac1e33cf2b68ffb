"""`--follow` of a terminal: its new lines as they appear."""

import time

from mngr.actions.capture import capture
from mngr.actions.targets import resolve_one
from mngr.cli.call import Call
from mngr.cli.render import put
from mngr.errors import ExitCode, NotFoundError
from mngr.model.agent import AgentState
from mngr_lib.safe_text import safe_lines

_LOOK_EVERY_S = 0.3
_OVER = (AgentState.DONE, AgentState.STOPPED)


def follow_screen(call: Call, name: str) -> int:
    """Until the agent ends. Made for programs that print lines; one that redraws its screen repeats itself."""
    agent_id = resolve_one(call.manager, name).agent.id
    shown: list[str] = []
    while True:
        try:
            is_over = resolve_one(call.manager, agent_id).agent.state in _OVER
            lines = capture(agent_id, full=True, manager=call.manager).rstrip("\n").split("\n")
        except NotFoundError:
            return ExitCode.DONE
        for line in new_lines(shown, lines):
            put(safe_lines(line))
        shown = lines
        if is_over:
            return ExitCode.DONE
        time.sleep(_LOOK_EVERY_S)


def new_lines(before: list[str], now: list[str]) -> list[str]:
    """What is below the part that both share; a last line that grew is told again."""
    shared = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        shared += 1
    return now[shared:]
