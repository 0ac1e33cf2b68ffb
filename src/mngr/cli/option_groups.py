"""Help shows a command's own options first, then those that choose agents, then those of every command."""

import re
from collections.abc import Iterator

import click

OWN = "Options"
CHOOSING = "Choosing agents"
COMMON = "Options of every command"
_BRACKET = r"  \[(?:default: (?P<default>[^;\]]+))?[^\]]*\]$"


class ChoosingOption(click.Option):
    """One of the options that say which agents are meant."""


class RequestOption(click.Option):
    """One of the options of `create` that are a field of its request, which templates set in the request itself."""


class CommonVerbOption(click.Option):
    """One of the options that every command has; commands of plugins have theirs from `mngr_lib`."""

    is_common = True


def option_groups(command: click.Command, context: click.Context) -> Iterator[tuple[str, list[click.Option]]]:
    """The options that help shows, under their headings."""
    shown = [param for param in command.get_params(context) if isinstance(param, click.Option)]
    groups: dict[str, list[click.Option]] = {OWN: [], CHOOSING: [], COMMON: []}
    for option in shown:
        is_own = option in command.params and not getattr(option, "is_common", False)
        title = CHOOSING if isinstance(option, ChoosingOption) else OWN if is_own else COMMON
        if not option.hidden:
            groups[title].append(option)
    yield from ((title, options) for title, options in groups.items() if options)


def option_lines(options: list[click.Option], context: click.Context) -> list[tuple[str, str]]:
    """How help names each option, and what it says about it."""
    lines = []
    for name, text in filter(None, (option.get_help_record(context) for option in options)):
        # `[default: 8; 1<=x<=9]` becomes a sentence; a number out of its range is answered with the range.
        if found := re.search(_BRACKET, text):
            text = text[: found.start()] + (f" Default: {found['default']}." if found["default"] else "")
        lines.append((name, text))
    return lines
