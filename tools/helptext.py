"""Writes the texts that ship with the package: `python -m tools.helptext`. A test says when they are stale."""

import os

import click

from mngr.cli.app import app
from mngr.cli.commands import ALIASES, COMMANDS, SECTIONS

_SHIPPED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src/mngr/cli")
_HEAD = """\
mngr: run many coding agents, on this machine and on remote hosts.

Usage: mngr COMMAND [WORDS] [OPTIONS]
"""
_FOOT = """\
Every command: --help, --format human|json|jsonl|TEMPLATE, --json, -q, -v, -S KEY=VALUE
Topics (mngr help TOPIC): address, agent-types, config, env, exit-codes, filters, pipes, policy, states, transfers

Examples:
  mngr create foo -- bash
  mngr list
  mngr message foo -m 'echo hello'
  mngr stop foo && mngr destroy foo
"""


def help_text() -> str:
    """What `mngr --help` prints."""
    parts = [_HEAD]
    for title, commands in SECTIONS.items():
        parts.append(
            f"{title}:\n" + "".join(f"  {name:<12}{_line(name, line)}\n" for name, line in commands.items())
        )
    return "\n".join([*parts, _FOOT])


def completion_text() -> str:
    """A line per command: its names, what its words are, its options."""
    context = click.Context(app, info_name="mngr")
    lines = []
    for name in COMMANDS:
        command = app.get_command(context, name)
        assert command
        names = ",".join([name, *(alias for alias, meant in ALIASES.items() if meant == name)])
        if isinstance(command, click.Group):
            lines.append(f"{names} {'|'.join(command.commands)}")
            lines += [
                f"{name}/{sub} {_kind(below)} {_options(below)}" for sub, below in command.commands.items()
            ]
        else:
            lines.append(f"{names} {_kind(command)} {_options(command)}")
    return "\n".join(lines) + "\n"


def main() -> None:
    for name, text in (("help.txt", help_text()), ("completion.txt", completion_text())):
        with open(os.path.join(_SHIPPED, name), "w", encoding="utf-8") as file:
            file.write(text)


def _line(name: str, line: str) -> str:
    aliases = [alias for alias, meant in ALIASES.items() if meant == name]
    return f"{line} (also: {', '.join(aliases)})" if aliases else line


def _kind(command: click.Command) -> str:
    """`agents`, `agent`, the fixed words it takes, or `-`."""
    for param in command.params:
        if isinstance(param, click.Argument):
            if isinstance(param.type, click.Choice):
                return "|".join(str(choice) for choice in param.type.choices)
            if param.name in ("names", "words"):
                return "agents"
            return "agent" if param.name == "agent" else "-"
    return "-"


def _options(command: click.Command) -> str:
    words = []
    for param in command.params:
        if not isinstance(param, click.Option) or param.hidden:
            continue
        long = [word for word in (*param.opts, *param.secondary_opts) if word.startswith("--")]
        if param.is_flag:
            words += long
        else:
            choices = "|".join(map(str, param.type.choices)) if isinstance(param.type, click.Choice) else ""
            words += [f"{word}={_known_values(word) or choices}" for word in long]
    return " ".join([*words, "--help"])


def _known_values(option: str) -> str:
    return {
        "--format": "human|json|jsonl",
        "--until": "done|waiting|idle|stopped|result",
        "--transfer": "worktree|mirror|copy|none",
    }.get(option, "")


if __name__ == "__main__":
    main()
