"""`mngr tmr set`."""

from typing import Any

import click
import msgspec

import mngr
from mngr_lib.suggest import did_you_mean
from mngr_tmr.cli.places import find_place
from mngr_tmr.cli.settings import changed_options, out_option
from mngr_tmr.cli.steer import steer
from mngr_tmr.engine.steering import STEERABLE
from mngr_tmr.run_folder.records import Records

_KEYS = tuple(name.removesuffix("_s") for name in STEERABLE)


@click.command("set")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] KEY=VALUE...")
@out_option
@click.pass_context
def command(context: click.Context, /, words: tuple[str, ...], out: str | None) -> int:
    """Change options of a run that goes on: slots, verifiers, timeout. Without RUN the newest one is meant.

    With fewer slots no agent is stopped: none is launched until there are fewer. A new timeout holds for the agents
    that are at work too.

    \b
    mngr tmr set slots=8
    mngr tmr set nightly slots=2 timeout=30m
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
    new = msgspec.to_builtins(changed_options(Records(folder).state.options, settings))
    steer(
        folder, "set", options={name: new[name] for name in STEERABLE if name.removesuffix("_s") in settings}
    )
    return 0
