"""A stand-in for a coding agent: follows a playbook on its terminal, takes messages, leaves evidence.

    python3 program.pyz [PLAYBOOK]

A playbook is a JSON list of steps, described in `playbook.VERBS`. When it is over the program waits for messages, as a
coding agent does; started again it goes on after the last finished step.
"""

from __future__ import annotations

import json
import signal
import sys

from mngr.agents.scripted.program.playbook import DEFAULT_PLAYBOOK, BadPlaybookError, compile_steps
from mngr.agents.scripted.program.player import Player, end_by
from mngr.agents.scripted.program.state_files import StateFiles
from mngr.agents.scripted.program.terminal import TerminalDisplay

USAGE = 64


def main(argv: list[str]) -> int:
    screen = TerminalDisplay()
    try:
        playbook = DEFAULT_PLAYBOOK
        if argv:
            with open(argv[0], encoding="utf-8") as file:
                playbook = json.load(file)
        ops = compile_steps(playbook)
    except (OSError, ValueError, BadPlaybookError) as error:
        screen.show("✗", f"playbook: {error}", 31)
        return USAGE
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda received, _frame: end_by(received, screen))
    screen.open()
    try:
        Player(ops, screen, StateFiles()).play()
    except KeyboardInterrupt:
        end_by(signal.SIGINT, screen)
    except OSError as error:
        screen.show("✗", str(error), 31)
        return 1
    finally:
        screen.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
