"""`mngr tmr plan`."""

from typing import Any

import click
import msgspec

import mngr
from mngr_tmr.cli.draft import collect_spec
from mngr_tmr.cli.places import find_place
from mngr_tmr.cli.settings import (
    all_option,
    environment,
    preflight_option,
    pytest_option,
    read_settings,
    with_run_options,
)
from mngr_tmr.model.money import parse_amount
from mngr_tmr.model.run import tasks_with_agents
from mngr_tmr.model.task import agent_of
from mngr_tmr.report.data.counts import plural
from mngr_tmr.report.out.budget_lines import budget_lines, day_line
from mngr_tmr.report.out.estimate_lines import skipped_lines, task_words, total_lines
from mngr_tmr.report.out.progress import clock
from mngr_tmr.run.preflight import check_agents, finding_line


@click.command("plan")
@click.argument("paths", nargs=-1)
@with_run_options
@pytest_option
@click.option("--base", metavar="REF", help="The commit to start from (default: HEAD).")
@all_option
@click.option(
    "--daily-budget", metavar="AMOUNT", help="How many agents and runs a day this is enough for: 40usd."
)
@click.option("--daily-tokens", metavar="COUNT", help="The same in tokens: 30M.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@preflight_option
@click.pass_context
def command(context: click.Context, /, paths: tuple[str, ...], as_json: bool, **flags: Any) -> int:
    """What a run would do: the tests in the order they start, their agents, what they may use. Launches nothing.

    Tokens, dollars and times are ranges from past runs with the same agent type and model, from the median to the
    95th percentile; where there are none, from `tmr.context_tokens` and the price of the model.

    \b
    mngr tmr plan tests/e2e
    mngr tmr plan tests/e2e --all
    mngr tmr plan tests/e2e --slots 4 -- -k create
    mngr tmr plan tests/e2e --daily-budget 40usd
    """
    place = find_place(context)
    if count := flags.pop("daily_tokens"):
        if flags["daily_budget"]:
            raise mngr.UsageError("--daily-budget and --daily-tokens are two units", hint="give one of them")
        flags["daily_budget"] = f"{parse_amount(count, '--daily-tokens', 'tok').tokens}tok"
    settings = read_settings(place.manager, flags)
    spec, why = collect_spec(place, paths, settings)
    problems: list[mngr.Finding] = []
    if not settings.get("no_preflight"):
        env = environment(settings, "env", spec.options.env_names)
        findings = check_agents(spec.repo, spec.options, env, place.manager)
        problems = [finding for finding in findings if not finding.ok]
    if as_json:
        more = {"problems": problems, **msgspec.to_builtins(spec)}
        click.echo(msgspec.json.encode({"schema": 1, "slots": why, **more}).decode())
        return 0
    estimate = spec.estimate
    assert estimate is not None, "the first stage makes one"
    for task in sorted(tasks_with_agents(spec), key=lambda task: -task.expected_s):
        words = task_words(estimate.tasks[task.slug])
        click.echo(f"{agent_of(spec.id, task.slug)}  {task.node_id}  {words}")
    for task in spec.tasks:
        if task.slug in spec.skipped:
            click.echo(f"skipped  {task.node_id}  {spec.skipped[task.slug].reason}")
    longest = clock(spec.options.timeout_s * -(-len(tasks_with_agents(spec)) // spec.options.slots))
    click.echo(
        f"{plural(len(spec.tasks), 'test')} at {spec.base[:12]}, {why}; at most {longest} and verification"
    )
    for line in (*total_lines(spec, estimate), *skipped_lines(spec), *budget_lines(spec)):
        click.echo(line)
    if line := day_line(spec):
        click.echo(line)
    for problem in problems:
        click.echo(finding_line(problem), err=True)
    return 0
