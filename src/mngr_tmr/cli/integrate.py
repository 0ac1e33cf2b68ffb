"""`mngr tmr integrate`."""

import sys
from typing import Any

import click
from msgspec.structs import replace

from mngr_tmr import stages
from mngr_tmr.cli.finish import run_to_end
from mngr_tmr.cli.output import progress_of, show
from mngr_tmr.cli.places import Place, find_place
from mngr_tmr.cli.settings import changed_options, out_option, read_settings, secrets_of
from mngr_tmr.run.from_pipe import PipeResults, read_lines
from mngr_tmr.run_folder.folder import RunFolder
from mngr_tmr.run_folder.records import Records
from mngr_tmr.run_folder.redact import joined_values, make_redactor
from mngr_tmr.stages import Pipeline, PipelineRequest, walk

_PARTIAL = 3
_COMPLETE = (0, 8)


@click.command("integrate")
@click.argument("run", required=False, default="")
@click.option(
    "--results",
    metavar="DIR",
    default="results",
    show_default=True,
    help="With -: where mngr pull - --outbox put the results.",
)
@click.option(
    "--integrator",
    type=click.Choice(["auto", "mechanical", "agent"]),
    help="Who builds it (default: as in the run).",
)
@click.option("--integrator-env", metavar="K[=V]", multiple=True, help="A variable for the integrator alone.")
@click.option("--push", is_flag=True, default=None, help="Push the branch and open a pull request with gh.")
@out_option
@click.pass_context
def command(context: click.Context, /, run: str, results: str, out: str | None, **flags: Any) -> int:
    """Build the branch of a run again from its stored results; the same results give the same commits.

    With - as the run, it is made from a pipe that began with mngr tmr collect: results and commits are fetched,
    agents that still run are stopped, tests are verified, and everything is integrated and reported as usual.

    \b
    mngr tmr integrate
    mngr tmr integrate nightly --integrator mechanical
    mngr tmr collect tests/e2e | mngr create - --type claude --max-running 20 | mngr wait - |
        mngr pull - --outbox --to results | mngr stop - | mngr tmr integrate -
    """
    place = find_place(context, out)
    settings = read_settings(place.manager, flags)
    if run == "-":
        return _from_pipe(place, results, flags)
    return _again(place, place.run(run), settings)


def _again(place: Place, folder: RunFolder, settings: dict[str, Any]) -> int:
    records = Records(folder)
    options = changed_options(records.state.options, settings)
    secrets = secrets_of(settings, options)
    folder = folder.hiding(secrets.tests, secrets.integrator)
    request = PipelineRequest(
        manager=place.manager,
        runs=place.runs,
        secrets=secrets,
        redactor=folder.redactor,
        tell=progress_of("human", folder.redactor).say,
        options=options,
    )
    written = walk(Pipeline(request, records.spec, folder), stages.integrate).written
    assert written is not None
    show(written)
    return written.exit_code


def _from_pipe(place: Place, results: str, flags: dict[str, Any]) -> int:
    """The end of a pipe; a test that did not get here makes the exit code that of a partial run."""
    arrivals = read_lines(sys.stdin.buffer.read())
    flags = {key: value for key, value in flags.items() if value not in (None, ())}
    spec = replace(arrivals.spec, options=changed_options(arrivals.spec.options, flags))
    secrets = secrets_of(read_settings(place.manager, flags), spec.options)
    redactor = make_redactor(joined_values(secrets.tests, secrets.integrator), spec.repo, spec.base)
    progress = progress_of("human", redactor)
    for problem in arrivals.problems:
        progress.say(f"warning: {problem}")
    request = PipelineRequest(
        manager=place.manager,
        runs=place.runs,
        secrets=secrets,
        redactor=redactor,
        tell=progress.say,
        observe=progress,
        from_pipe=PipeResults(replace(arrivals, spec=spec), results),
    )
    code = run_to_end(Pipeline(request, spec), progress, stages.prepare)
    return _PARTIAL if arrivals.problems and code in _COMPLETE else code
