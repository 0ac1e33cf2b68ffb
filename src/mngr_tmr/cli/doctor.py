"""`mngr tmr doctor`."""

from typing import Any

import click
import msgspec

import mngr
from mngr_tmr.cli.draft import collect_spec
from mngr_tmr.cli.places import Place, find_place
from mngr_tmr.cli.settings import environment, new_options, read_settings, with_run_options
from mngr_tmr.copies.copy import open_copy
from mngr_tmr.report.data.counts import plural
from mngr_tmr.run.preflight import check_agents, check_host, finding_line, is_here
from mngr_tmr.run_folder.redact import make_redactor


@click.command("doctor")
@click.argument("paths", nargs=-1)
@with_run_options
@click.option("--base", metavar="REF", help="The commit to start from (default: HEAD).")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_context
def command(context: click.Context, /, paths: tuple[str, ...], as_json: bool, **flags: Any) -> int:
    """What a run with these options would lack, each with its fix. Launches no agent.

    Looks for the agents' program and login (of claude by one request for one token), the git identity, pytest and the
    tests, in a working copy of the base commit. Exit code 1 when something is missing.

    \b
    mngr tmr doctor tests/e2e --env ANTHROPIC_API_KEY
    """
    place = find_place(context)
    settings = read_settings(place.manager, flags)
    options, _ = new_options(settings, place.manager)
    env = environment(settings, "env", options.env_names)
    findings = [*check_agents(place.repo, options, env, place.manager), *_tests(place, paths, settings, env)]
    redactor = make_redactor(env, place.repo, "HEAD")
    if as_json:
        click.echo(redactor.text(msgspec.json.encode({"schema": 1, "findings": findings}).decode()))
    else:
        for finding in findings:
            click.echo(redactor.text(finding_line(finding)))
    return int(any(not finding.ok and finding.severity == "error" for finding in findings))


def _tests(
    place: Place, paths: tuple[str, ...], settings: dict[str, Any], env: dict[str, str]
) -> list[mngr.Finding]:
    """What a copy of the base commit shows: the tests that pytest collects, and the program on another host."""
    try:
        spec, _ = collect_spec(place, paths, settings)
        found = f"{plural(len(spec.tasks), 'test')} collected at {spec.base[:12]}"
        tests = mngr.Finding("tests", True, "error", found)
        if is_here(spec.options):
            return [tests]
        with open_copy(spec, spec.base, env, place.manager) as copy:
            return [tests, *check_host(spec.options, copy, place.manager)]
    except mngr.MngrError as error:
        return [mngr.Finding("tests", False, "error", error.message, error.hint)]
