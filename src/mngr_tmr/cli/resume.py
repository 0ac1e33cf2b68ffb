"""`mngr tmr resume`."""

import os
from typing import Any

import click
import msgspec
from msgspec.structs import replace

import mngr
from mngr_tmr import stages
from mngr_tmr.cli.finish import run_to_end
from mngr_tmr.cli.output import progress_of
from mngr_tmr.cli.places import find_place
from mngr_tmr.cli.settings import (
    alerts_of,
    changed_options,
    format_option,
    out_option,
    read_settings,
    secrets_of,
    with_run_options,
)
from mngr_tmr.cli.slots import with_numbers
from mngr_tmr.cli.steer import steer
from mngr_tmr.model.facts import RunResumed
from mngr_tmr.model.run import RunOptions
from mngr_tmr.report.out.budget_lines import budget_lines
from mngr_tmr.run_folder.folder import RunFolder
from mngr_tmr.run_folder.liveness import is_alive
from mngr_tmr.run_folder.records import Records
from mngr_tmr.stages import Pipeline, PipelineRequest


@click.command("resume")
@click.argument("run", required=False, default="")
@with_run_options
@click.option("--retry", is_flag=True, help="Also try again what was lost to infrastructure.")
@out_option
@format_option
@click.pass_context
def command(context: click.Context, /, run: str, retry: bool, form: str, **flags: Any) -> int:
    """Go on with a run: finished tests stay finished, running agents are found again, the rest is launched.

    Options change what is left, and each change is printed; without RUN the newest one is meant. A run that goes on
    and is paused launches agents again.

    \b
    mngr tmr resume
    mngr tmr resume nightly --slots 4 --timeout 30m
    mngr tmr resume nightly --retry
    """
    place = find_place(context, flags.pop("out"))
    records = Records(place.run(run))
    settings = {key: value for key, value in flags.items() if value not in (None, (), "")}
    if is_alive(records.folder):
        return _unpause(place.known_run(run), is_changed=bool(settings or retry))
    before, has_estimate = records.state.options, records.spec.estimate is not None
    after = _after(before, settings, place.manager, has_estimate=has_estimate)
    settings = {**read_settings(place.manager, {}), **settings}
    secrets = secrets_of(settings, after)
    folder = records.folder.hiding(secrets.tests, secrets.integrator)
    progress = progress_of(form, folder.redactor)
    for line in differences(before, after):
        progress.say(line)
    for line in budget_lines(replace(records.spec, options=after)):
        progress.say(line)
    old, new = msgspec.to_builtins(before), msgspec.to_builtins(after)
    again = tuple(record.task.slug for record in records.tasks() if retry and record.end == "failed")
    request = PipelineRequest(
        manager=place.manager,
        runs=place.runs,
        secrets=secrets,
        alerts=alerts_of(settings),
        redactor=folder.redactor,
        tell=progress.say,
        observe=progress,
        resume=RunResumed({name: new[name] for name in new if new[name] != old[name]}, again),
    )
    return run_to_end(Pipeline(request, records.spec, folder), progress, stages.map)


def _unpause(folder: RunFolder, *, is_changed: bool) -> int:
    """Resumes a run whose process is at work; that process keeps its options."""
    run = os.path.basename(folder.path)
    if is_changed:
        raise mngr.RefusedError(
            "a process is at work on this run, and options of resume are for one without",
            hint=f"mngr tmr set {run} slots=4; mngr tmr retry {run} TEST",
        )
    steer(folder, "resume")
    return 0


def differences(before: RunOptions, after: RunOptions) -> list[str]:
    """What a person should know about the options that were changed."""
    old, new = _named_values(before), _named_values(after)
    return [f"{name}: {_shown(old[name])} → {_shown(new[name])}" for name in new if new[name] != old[name]]


def _named_values(options: RunOptions) -> dict[str, Any]:
    """Every option by the name of its key; those of the limits have keys of their own."""
    values: dict[str, Any] = msgspec.to_builtins(options)
    limits = values.pop("limits")
    return {**values, **limits}


def _shown(value: Any) -> str:
    """A value as a person would write it: a list with commas, a table as KEY=VALUE."""
    if isinstance(value, dict):
        value = [f"{key}={each}" for key, each in value.items()]
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) or "none"


def _after(
    before: RunOptions, settings: dict[str, Any], manager: mngr.Manager, *, has_estimate: bool
) -> RunOptions:
    """The options as they shall be; a snapshot of one provider is nothing to another, and neither are its numbers."""
    after = changed_options(before, settings)
    if after.provider != before.provider:
        names = [name for name in ("verifiers", "max_hosts") if name not in settings]
        after = msgspec.structs.replace(after, **dict.fromkeys(names, 0))
        after = after if "snapshot" in settings else msgspec.structs.replace(after, snapshot="")
    if after.limits.in_dollars and not has_estimate:
        raise mngr.UsageError(
            "a run of an older version has no estimate in dollars to keep a budget by",
            hint="give the budget in tokens, for example --budget 3Mtok",
        )
    is_bound = after.max_hosts or after.provider != before.provider
    return with_numbers(after, manager)[0] if is_bound else after
