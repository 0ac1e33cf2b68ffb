"""`mngr` itself: finds the command that was meant and imports that one only."""

import os
from importlib import import_module
from typing import Any

import click

from mngr import __version__, registry
from mngr.cli.commands import ALIASES, COMMANDS
from mngr.cli.errors import guarded
from mngr.cli.overview import overview
from mngr.cli.shipped import read_equivalents
from mngr.errors import UsageError, did_you_mean
from mngr_lib import trace


class App(click.Group):
    """`mngr` itself."""

    def list_commands(self, _: click.Context) -> list[str]:
        return [*COMMANDS, *registry.plugin_commands()]

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        name = ALIASES.get(cmd_name, cmd_name)
        if name in COMMANDS:
            command: click.Command = import_module(f"mngr.cli.commands.{name}").command
            return command
        entry = registry.entries(registry.COMMANDS).get(name)
        return plugin_command(entry) if entry else None

    def get_help(self, _: click.Context) -> str:
        return overview().rstrip("\n")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        command = self.get_command(ctx, args[0])
        if command is None:
            raise unknown_command(args[0])
        return ALIASES.get(args[0], args[0]), command, args[1:]


def plugin_command(entry: registry.RegistryEntry) -> click.Command:
    """Imports a plugin's command; one that is broken is named."""
    loaded = registry.load_entry(entry)
    if isinstance(loaded, click.Command):
        return loaded
    raise registry.PluginError(
        f'plugin "{entry.distribution}" is broken: {entry.target} is not a click command',
        hint=f"fix or remove it: pip uninstall {entry.distribution}",
    )


def unknown_command(word: str) -> UsageError:
    """The error for a word that is no command; its hint is the command that was probably meant."""
    message, equivalents = f'no command "{word}"', read_equivalents()
    if word in equivalents:
        return UsageError(message, hint=equivalents[word])
    known = [*COMMANDS, *ALIASES, *registry.entries(registry.COMMANDS)]
    return UsageError(message, hint=did_you_mean(word, known, else_hint="see: mngr --help"))


def _print_version(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        click.echo(f"mngr {__version__}")
        ctx.exit()


app = App(
    "mngr",
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        click.Option(
            ["-S", "--set"],
            multiple=True,
            is_eager=True,
            expose_value=False,
            callback=lambda ctx, _, overrides: ctx.meta.update(overrides=overrides),
        ),
        click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_print_version),
    ],
)


def run(words: list[str]) -> int:
    """Runs one command line and returns its exit code."""
    own = words[: words.index("--")] if "--" in words else words
    verbose = "-v" in own or "--verbose" in own
    if verbose:
        trace.show()
    debug = verbose or bool(os.environ.get("MNGR_DEBUG"))
    return guarded(lambda: answer(words), debug=debug)


def answer(words: list[str]) -> Any:
    """Finds the command and runs it; errors leave as they are, which click's own `main` would not let them."""
    with app.make_context("mngr", list(words)) as context:
        return app.invoke(context)
