"""`mngr tmr collect`."""

from typing import Any

import click
import msgspec
from msgspec.structs import replace

from mngr_tmr.cli.draft import collect_spec
from mngr_tmr.cli.places import find_place
from mngr_tmr.cli.settings import pytest_option, read_settings, with_environment
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import Task, agent_of, branch_of
from mngr_tmr.prompts.render import render_prompt
from mngr_tmr.publish.helper import helper_config, helper_setup
from mngr_tmr.run.from_pipe import Carried
from mngr_tmr.run.polling import ATTEMPT, RUN, TASK
from mngr_tmr.run.steps import filled


@click.command("collect")
@click.argument("paths", nargs=-1)
@click.option("--base", metavar="REF", help="The commit to collect at (default: HEAD).")
@click.option(
    "--name", metavar="NAME", help="The run's name, in agents and branches (default: from the time)."
)
@with_environment
@pytest_option
@click.option(
    "--transfer", type=click.Choice(["mirror", "worktree"]), help="How copies are made (default: mirror)."
)
@click.option("--prompt", metavar="FILE", help="A template that extends the testing agents' prompt.")
@click.option(
    "--arg", "args", multiple=True, help="An argument for the agents; {test}, {slug}, {file} are filled in."
)
@click.option("--label", "labels", metavar="K=V", multiple=True, help="A label for every agent.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document with the tests, for programs.")
@click.pass_context
def command(context: click.Context, /, paths: tuple[str, ...], as_json: bool, **flags: Any) -> int:
    """The tests at the base commit, an agent a line: what `mngr create -` reads. Launches nothing.

    What stands after -- goes to pytest as it is. Exit codes: 0 there are tests, 1 pytest failed or found none,
    6 a selected test is not committed.

    \b
    mngr tmr collect tests/e2e | mngr create - --type claude --max-running 20 | mngr wait - |
        mngr pull - --outbox --to results | mngr stop - | mngr tmr integrate -
    mngr tmr collect tests/e2e --json -- -k create
    """
    place = find_place(context)
    spec, _ = collect_spec(place, paths, {**read_settings(place.manager, flags), "runs_all": True})
    if as_json:
        click.echo(msgspec.json.encode(document(spec)).decode())
        return 0
    for task in spec.tasks:
        click.echo(msgspec.json.encode(line(spec, task)).decode())
    return 0


def line(spec: RunSpec, task: Task) -> dict[str, Any]:
    """What creates the agent of one test; `test` and `tmr` only travel along, for `integrate -`."""
    carried = Carried(task, replace(spec, tasks=(), conditions={}), len(spec.tasks))
    return {
        "name": agent_of(spec.id, task.slug),
        "branch": f"{spec.base}:{branch_of(spec.id, task.slug)}",
        "from": spec.repo,
        "transfer": spec.options.transfer,
        "labels": {**spec.options.labels, RUN: spec.id, TASK: task.slug, ATTEMPT: "1"},
        "setup": helper_setup(spec.options.setup, helper_config(spec, task)),
        "message": render_prompt(spec, task),
        **({"args": [filled(arg, task) for arg in spec.options.args]} if spec.options.args else {}),
        "test": task.node_id,
        "tmr": msgspec.to_builtins(carried),
    }


def document(spec: RunSpec) -> dict[str, Any]:
    tests = [
        {
            **msgspec.to_builtins(task),
            "agent": agent_of(spec.id, task.slug),
            "branch": branch_of(spec.id, task.slug),
        }
        for task in spec.tasks
    ]
    command = [*spec.pytest, "--collect-only", "-q", *spec.pytest_args]
    return {"schema": 1, "run": spec.id, "base": spec.base, "command": command, "tests": tests}
