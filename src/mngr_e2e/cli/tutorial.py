"""`mngr tutorial`: a tutorial and the tests that cite it, checked, drafted, reviewed and kept in step."""

from importlib import import_module

import click

import mngr
from mngr_lib.command_options import with_common_options
from mngr_lib.suggest import did_you_mean

_MODULES = {
    "blocks": "check",
    "gaps": "check",
    "check": "check",
    "draft": "draft",
    "review": "review",
    "signals": "signals",
    "sync": "sync",
    "install-command": "install",
}


class _Group(click.Group):
    """Imports the command that was meant: the check runs in every CI and need not load what starts agents."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(_MODULES)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _MODULES:
            return None
        module = import_module(f"mngr_e2e.cli.tutorial_{_MODULES[cmd_name]}")
        found: click.Command = getattr(module, f"{cmd_name.removesuffix('-command')}_command")
        return with_common_options(found)

    def config_keys(self) -> tuple[str, ...]:
        """The keys of `[tutorial]`, so that `mngr config set` refuses others."""
        keys: tuple[str, ...] = import_module("mngr_e2e.cli.places").KEYS
        return keys

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _MODULES and not args[0].startswith("-"):
            raise mngr.UsageError(f'no command "tutorial {args[0]}"', hint=did_you_mean(args[0], _MODULES))
        return super().resolve_command(ctx, args)


@click.group(
    "tutorial",
    cls=_Group,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.pass_context
def command(context: click.Context) -> None:
    """A tutorial as a contract: its blocks, its gaps, and the tests that cite it.

    An agent drafts examples for gaps (draft), a person keeps what is good (review), what agents got wrong tells where
    the program is hard to use (signals), and agents bring the tests in step (sync).

    \b
    mngr tutorial check tutorial.sh tests/e2e
    mngr tutorial draft
    mngr tutorial review
    mngr tutorial sync
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
