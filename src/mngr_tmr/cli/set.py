"""`mngr tmr set`."""

from typing import Any

import click
import msgspec
from msgspec.structs import replace

import mngr
from mngr_lib.suggest import did_you_mean
from mngr_tmr.cli.places import find_place
from mngr_tmr.cli.settings import changed_options, out_option
from mngr_tmr.cli.steer import steer
from mngr_tmr.engine.steering import STEERABLE, STEERABLE_LIMITS
from mngr_tmr.report.out.budget_lines import budget_lines
from mngr_tmr.run_folder.records import Records

_KEYS = (*(name.removesuffix("_s") for name in STEERABLE), *STEERABLE_LIMITS)


@click.command("set")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] KEY=VALUE...")
@out_option
@click.pass_context
def command(context: click.Context, /, words: tuple[str, ...], out: str | None) -> int:
    """Change options of a run that goes on: slots, verifiers, timeout, budget, agent_budget. Without RUN the
    newest one is meant.

    With fewer slots no agent is stopped: none is launched until there are fewer. A new timeout holds for the agents
    that are at work too.

    \b
    mngr tmr set slots=8
    mngr tmr set nightly slots=2 timeout=30m
    mngr tmr set budget=30usd
    """
    runs = [word for word in words if "=" not in word]
    settings: dict[str, Any] = dict(word.split("=", 1) for word in words if "=" in word)
    if len(runs) > 1 or not settings:
        raise mngr.UsageError("one run and KEY=VALUE, please", hint="mngr tmr set nightly slots=8")
    for key in settings:
        if key not in _KEYS:
            known = f"these change while a run goes on: {', '.join(_KEYS)}"
            raise mngr.UsageError(f'unknown key "{key}"', hint=did_you_mean(key, _KEYS, else_hint=known))
    for key in settings.keys() & {"slots", "verifiers"}:
        if not settings[key].isdecimal():
            raise mngr.UsageError(f"{key} is a number, not {settings[key]}", hint=f"mngr tmr set {key}=8")
        settings[key] = int(settings[key])
    folder = find_place(context, out).known_run(runs[0] if runs else "")
    records = Records(folder)
    options = changed_options(records.state.options, settings)
    new = msgspec.to_builtins(options)
    changes = {name: new[name] for name in STEERABLE if name.removesuffix("_s") in settings}
    changes |= {name: new["limits"][name] for name in STEERABLE_LIMITS if name in settings}
    steer(folder, "set", options=changes)
    if settings.keys() & STEERABLE_LIMITS:
        for line in budget_lines(replace(records.spec, options=options)):
            click.echo(line)
    return 0
