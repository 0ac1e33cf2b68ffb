"""`mngr tmr run`."""

from typing import Any

import click

from mngr_tmr.cli.draft import draft_spec
from mngr_tmr.cli.finish import run_to_end
from mngr_tmr.cli.output import progress_of
from mngr_tmr.cli.places import Place, find_place
from mngr_tmr.cli.settings import (
    alerts_of,
    all_option,
    format_option,
    out_option,
    preflight_option,
    pytest_option,
    read_settings,
    secrets_of,
    with_run_options,
)
from mngr_tmr.model.run import tasks_with_agents
from mngr_tmr.report.out.progress import Progress
from mngr_tmr.run_folder.redact import joined_values, make_redactor
from mngr_tmr.stages import Pipeline, PipelineRequest, collect, walk


@click.command("run")
@click.argument("paths", nargs=-1)
@with_run_options
@pytest_option
@click.option("--base", metavar="REF", help="The commit to start from (default: HEAD).")
@click.option("--name", metavar="NAME", help="The run's name (default: from the time).")
@all_option
@out_option
@format_option
@click.option("--dry-run", is_flag=True, help="Collect and show the plan; launch nothing.")
@preflight_option
@click.pass_context
def command(context: click.Context, /, paths: tuple[str, ...], form: str, dry_run: bool, **flags: Any) -> int:
    """Collect tests, launch an agent for each, integrate what they did, write the page.

    What stands after -- goes to pytest as it is. Exit codes: 0 clean, 8 findings to review, 3 some tasks were lost to
    infrastructure, 1 no result, 6 something is missing and nothing was launched.

    \b
    mngr tmr run tests/e2e
    mngr tmr run tests/e2e --type claude --slots 20 -- -k create
    mngr tmr run tests/e2e --provider docker --setup 'pip install -e .[test]'
    """
    place = find_place(context, flags["out"])
    settings = read_settings(place.manager, flags)
    pipeline, progress = make_pipeline(place, paths, settings, form, checks=not dry_run)
    if not dry_run:
        return run_to_end(pipeline, progress, collect)
    for task in tasks_with_agents(walk(pipeline, last=collect).spec):
        click.echo(task.node_id)
    return 0


def make_pipeline(
    place: Place,
    paths: tuple[str, ...],
    settings: dict[str, Any],
    form: str = "human",
    *,
    checks: bool = True,
) -> tuple[Pipeline, Progress]:
    """A run that is ready to start, and what shows how it goes on."""
    draft, why = draft_spec(place, paths, settings)
    secrets = secrets_of(settings, draft.options)
    redactor = make_redactor(joined_values(secrets.tests, secrets.integrator), draft.repo, draft.base)
    progress = progress_of(form, redactor)
    request = PipelineRequest(
        manager=place.manager,
        runs=place.runs,
        secrets=secrets,
        alerts=alerts_of(settings),
        redactor=redactor,
        tell=progress.say,
        observe=progress,
        checks=checks and not settings.get("no_preflight"),
        slots_reason=why,
        runs_all=bool(settings.get("runs_all")),
    )
    return Pipeline(request, draft), progress
