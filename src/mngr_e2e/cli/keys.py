"""One key from a terminal, without Enter."""

import os
import sys
import termios
import tty

import click


def ask_key(question: str) -> str:
    """Asks, and returns the key. What was typed ahead counts; Ctrl-C interrupts as ever; "" at the end of input."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSADRAIN)
    try:
        click.echo(question, nl=False)
        return os.read(terminal, 1).decode(errors="replace")
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
