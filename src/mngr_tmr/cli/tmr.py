"""`mngr tmr`: finds the command that was meant and imports that one only."""

from importlib import import_module

import click

import mngr
from mngr_lib.command_options import with_common_options
from mngr_lib.suggest import did_you_mean

COMMANDS = {
    "run": "collect tests, an agent for each, one branch and one page back",
    "nightly": "a run for a scheduler, unless one goes on or waits for a review",
    "resume": "go on with a run that was interrupted or paused",
    "pause": "launch no more agents in a run that goes on",
    "set": "change options of a run that goes on: slots, timeout, budget",
    "retry": "try a test again in a run that goes on",
    "cancel": "give up a test in a run that goes on",
    "status": "how a run stands",
    "runs": "every run of this repository",
    "history": "what past runs say, of all tests or of one",
    "compare": "two runs side by side",
    "plan": "what a run would do",
    "doctor": "what a run would lack: program, login, git identity, tests",
    "collect": "the tests as JSON lines, for a pipe of verbs",
    "verify": "run a task's test again in a fresh copy",
    "integrate": "build the branch again from stored results",
    "report": "write the page again, or serve it live",
    "delete": "remove a run, its agents and its branches",
}


class TmrGroup(click.Group):
    """Commands by name, each in a file of its own."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = import_module(f"mngr_tmr.cli.{cmd_name}").command
        return with_common_options(found)

    def config_keys(self) -> tuple[str, ...]:
        """The keys of `[tmr]`, so that `mngr config set` refuses others."""
        keys: tuple[str, ...] = import_module("mngr_tmr.cli.settings").KEYS
        return keys

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS:
            hint = did_you_mean(args[0], COMMANDS, else_hint="see: mngr tmr --help", form='"mngr tmr {}"')
            raise mngr.UsageError(f'no command "tmr {args[0]}"', hint=hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    "tmr", cls=TmrGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.pass_context
def command(context: click.Context) -> None:
    """Test map-reduce: an agent per test, one linear branch back.

    \b
    mngr tmr run tests/e2e
    mngr tmr run tests/e2e --type claude --slots 20 -- -k create
    mngr tmr resume
    mngr tmr report --serve
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
