"""`mngr tmr nightly`."""

import os
import re
import time
from typing import Any

import click

import mngr
from mngr_lib.command_options import note
from mngr_tmr.cli.finish import INTERRUPTED, run_to_end
from mngr_tmr.cli.places import Place, find_place
from mngr_tmr.cli.run import make_pipeline
from mngr_tmr.cli.settings import (
    all_option,
    out_option,
    preflight_option,
    pytest_option,
    read_settings,
    with_run_options,
)
from mngr_tmr.git import run_git
from mngr_tmr.history.spending import used_today
from mngr_tmr.model.money import dollars, parse_amount, tokens
from mngr_tmr.report.data.counts import count_line
from mngr_tmr.report.out.progress import clock
from mngr_tmr.report.out.terminal import printable
from mngr_tmr.report.report import WrittenReport
from mngr_tmr.run.review import mark_reviewed, unreviewed_branch
from mngr_tmr.run_folder.folder import RunFolder, make_runs_folder, read_spec, run_names
from mngr_tmr.run_folder.hold import hold
from mngr_tmr.run_folder.liveness import is_alive
from mngr_tmr.stages import collect

_LOCK = "nightly.lock"


@click.command("nightly")
@click.argument("paths", nargs=-1)
@with_run_options
@pytest_option
@click.option("--base", metavar="REF", help="The commit to start from (default: HEAD).")
@click.option(
    "--name",
    "prefix",
    default="nightly",
    metavar="NAME",
    help="Runs are called NAME-DATE (default: nightly).",
)
@click.option(
    "--every",
    default="20h",
    metavar="TIME",
    help="How long after the beginning of a run the next one is due; 0s is always (default: 20h).",
)
@click.option(
    "--reviewed", metavar="RUN", help="Mark the branch of this run as reviewed, and do nothing else."
)
@all_option
@out_option
@click.option("--dry-run", is_flag=True, help="Only say whether a run would start.")
@preflight_option
@click.pass_context
def command(
    context: click.Context,
    /,
    paths: tuple[str, ...],
    prefix: str,
    every: str,
    reviewed: str | None,
    dry_run: bool,
    **flags: Any,
) -> int:
    """A run for a scheduler: starts one when it is due and nothing forbids it, and prints one line with the outcome.

    Nothing is started while another one is going on, while the branch of an earlier one waits for a review (neither
    merged, nor deleted, nor marked with --reviewed), or before --every has passed since the last one began. Call it as
    often as you like: a run that was missed starts at the next call, and any number of missed runs are one.

    Exit codes: 0 clean or nothing started, 8 findings to review, 3 some tasks were lost to infrastructure, 1 no result,
    6 something is missing and nothing was launched, 130 interrupted.

    \b
    mngr tmr nightly tests/e2e --type claude
    mngr tmr nightly tests/e2e --dry-run
    mngr tmr nightly --reviewed nightly-20260301
    """
    place = find_place(context, flags["out"])
    if reviewed is not None:
        click.echo(f"nightly: {mark_reviewed(place.any_run(reviewed))} is marked as reviewed")
        return 0
    settings = {**read_settings(place.manager, flags), "name": _free_name(place, prefix)}
    mngr.parse_duration(every)
    make_runs_folder(place.runs)
    with hold(os.path.join(place.runs, _LOCK)) as is_ours:
        base = str(settings.get("base", "HEAD"))
        why_not = _why_not(place, prefix, every, base) if is_ours else "another one is going on"
        why_not = why_not or _out_of_budget(place.runs, str(settings.get("daily_budget", "")))
        if why_not or dry_run:
            _say(f"nothing started: {why_not}" if why_not else f"{settings['name']} would start")
            return 0
        return _run(place, paths, settings)


def _run(place: Place, paths: tuple[str, ...], settings: dict[str, Any]) -> int:
    """Runs it and says how it ended."""
    name = settings["name"]

    def show(written: WrittenReport) -> None:
        model = written.model
        counts = model.headline or count_line(model)
        branch = model.integration
        made = f"; branch {branch.branch}" if branch and branch.tip != branch.base else ""
        _say(f"{name} {model.state}: {counts}{made}; exit code {written.exit_code}; {written.page}")

    try:
        pipeline, progress = make_pipeline(place, paths, settings)
        code = run_to_end(pipeline, progress, collect, show=show)
    except (mngr.MngrError, KeyboardInterrupt) as error:
        _say(f"{name} failed: {error}" if isinstance(error, mngr.MngrError) else f"{name} interrupted")
        raise
    if code == INTERRUPTED:
        _say(f"{name} interrupted: mngr tmr resume {name}")
    return code


def _why_not(place: Place, prefix: str, every: str, base: str) -> str:
    """Why no run is started now; empty when one may be."""
    names = [
        name for name in run_names(place.runs) if re.fullmatch(rf"{re.escape(prefix)}-\d{{8}}(-\d+)?", name)
    ]
    now = time.time()
    for name in reversed(names):
        folder = RunFolder(os.path.join(place.runs, name))
        if is_alive(folder):
            return f"{name} is going on"
        try:
            age_s = now - read_spec(folder).created_at
        except mngr.MngrError as error:
            note(printable(f"warning: {error}"))
            continue
        if 0 <= age_s < mngr.parse_duration(every):
            return f"{name} began {clock(age_s)} ago, one is due every {every}"
        done = run_git(
            place.repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}"
        )
        if done.code:
            raise mngr.UsageError(f'"{base}" is no commit of {place.repo}', hint="see: git log --oneline")
        if branch := unreviewed_branch(folder, done.text.strip()):
            return (
                f"the branch {branch} waits for a review: merge it, delete it, or say "
                f"mngr tmr nightly --reviewed {name}"
            )
    return ""


def _out_of_budget(runs: str, daily_budget: str) -> str:
    """Whether the agents of today's runs used all of the daily budget; a run keeps to what is left of it."""
    if not daily_budget:
        return ""
    amount = parse_amount(daily_budget, "daily_budget")
    used = used_today(runs, time.time())
    if used.value(amount) < (amount.usd or amount.tokens or 0):
        return ""
    words = dollars(used.usd) if amount.usd else f"{tokens(used.tokens)} tokens"
    return f"the agents of today used {words} of the daily budget of {daily_budget}"


def _free_name(place: Place, prefix: str) -> str:
    """`nightly-20260301`, with a number for another one on the same day."""
    name, taken, number = f"{prefix}-{time.strftime('%Y%m%d')}", set(run_names(place.runs)), 1
    found = name
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    return found


def _say(line: str) -> None:
    click.echo(printable(f"nightly: {line}"))
