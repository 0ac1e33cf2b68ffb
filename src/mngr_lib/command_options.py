"""The options of every mngr command, for commands of plugins that are written with plain click."""

from functools import wraps
from typing import Any

import click

OVERRIDES, QUIET, FORMAT = "overrides", "quiet", "format"
"""Keys of `click.Context.meta` with the values of these options."""


class CommonOption(click.Option):
    """One of the options that every command has; help and reference show them together."""

    is_common = True


def with_common_options(command: click.Command) -> click.Command:
    """Adds those of -S, --format, -q and -v that the command lacks; adding them twice changes nothing.

    The command reads `context.meta["overrides"]` and `is_quiet()`. `--format json` is offered where there is `--json`,
    and means the same.
    """
    taken = {word for param in command.params for word in param.opts}
    json = next((param for param in command.params if "--json" in param.opts), None)
    offered = [option for option in _options() if option.name != FORMAT or json]
    added = [option for option in offered if not taken.intersection(option.opts)]
    command.params += added
    if json and json.name and command.callback and any(option.name == FORMAT for option in added):
        body, name = command.callback, json.name

        @wraps(body)
        def call(*args: Any, **params: Any) -> Any:
            if click.get_current_context().meta.get(FORMAT) == "json":
                params[name] = True
            return body(*args, **params)

        command.callback = call
    return command


def is_quiet() -> bool:
    """Whether the command that runs was given -q."""
    context = click.get_current_context(silent=True)
    return bool(context and (context.meta.get(QUIET) or context.params.get(QUIET)))


def note(text: str) -> None:
    """Prints a line to stderr; nothing with -q."""
    if not is_quiet():
        click.echo(text, err=True)


def _options() -> list[CommonOption]:
    def add_overrides(ctx: click.Context, _: click.Parameter, words: tuple[str, ...]) -> None:
        ctx.meta[OVERRIDES] = (*ctx.meta.get(OVERRIDES, ()), *words)

    def remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        if value and param.name:
            ctx.meta[param.name] = value

    return [
        CommonOption(
            ["-S", "--set"],
            multiple=True,
            metavar="KEY=VALUE",
            expose_value=False,
            callback=add_overrides,
            help="Override a config key for this call.",
        ),
        CommonOption(
            ["--format"],
            type=click.Choice(["human", "json"]),
            expose_value=False,
            callback=remember,
            help="human (the default), or json as --json.",
        ),
        CommonOption(
            ["-q", "--quiet"],
            is_flag=True,
            expose_value=False,
            callback=remember,
            help="No progress and no warnings.",
        ),
        # Read by mngr itself, before the command is found.
        CommonOption(
            ["-v", "--verbose"],
            is_flag=True,
            expose_value=False,
            help="Show each process with its time, and where an error came from.",
        ),
    ]
