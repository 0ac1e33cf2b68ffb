"""`mngr tmr run`."""

import os
import secrets
import time
from typing import Any

import click
import msgspec

import mngr
from mngr_tmr.cli.finish import run_to_end
from mngr_tmr.cli.output import progress_of
from mngr_tmr.cli.places import Place, find_place
from mngr_tmr.cli.pytest_command import Wanted, find_pytest_command
from mngr_tmr.cli.settings import (
    environment,
    format_option,
    new_options,
    out_option,
    preflight_option,
    pytest_option,
    secrets_of,
    settings,
    with_run_options,
)
from mngr_tmr.collect.collect import collect
from mngr_tmr.copies.base_snapshot import make_base_snapshot, name_base_snapshot
from mngr_tmr.copies.copies import Copies
from mngr_tmr.git import run_git
from mngr_tmr.model.run import RunSpec
from mngr_tmr.report.data.counts import plural
from mngr_tmr.run.preflight import check_agents, check_host, stop_for_problems
from mngr_tmr.run_folder.folder import RunFolder, make_folder
from mngr_tmr.run_folder.past_runs import with_expected
from mngr_tmr.run_folder.redact import joined_values, make_redactor, no_values_in_errors, refuse_test_ids


@click.command("run")
@click.argument("paths", nargs=-1)
@with_run_options
@pytest_option
@click.option("--base", metavar="REF", help="The commit to start from (default: HEAD).")
@click.option("--name", metavar="NAME", help="The run's name (default: from the time).")
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
    said = settings(place.manager, flags)
    draft, why = _draft(place, paths, said)
    secrets = secrets_of(said, draft.options)
    redactor = make_redactor(joined_values(secrets.tests, secrets.integrator), draft.repo, draft.base)
    progress = progress_of(form, redactor)
    with no_values_in_errors(redactor):
        is_checked = not (dry_run or said.get("no_preflight"))
        if is_checked:
            stop_for_problems(
                check_agents(draft.repo, draft.options, secrets.tests, place.manager), progress.say
            )
        with Copies(draft, secrets.tests, place.manager, progress.say) as copies:
            spec = _with_tasks(place, draft, copies)
            refuse_test_ids(spec, redactor)
            if is_checked:
                stop_for_problems(check_host(spec.options, copies.at(spec.base), place.manager), progress.say)
            progress.say(f"run {spec.id}: {plural(len(spec.tasks), 'test')} at {spec.base[:12]}, {why}")
            if dry_run:
                for task in spec.tasks:
                    click.echo(task.node_id)
                return 0
            spec = name_base_snapshot(spec, place.manager)
            folder = RunFolder(make_folder(place.runs, spec).path, redactor)
            make_base_snapshot(spec, copies.at(spec.base), place.manager)
        return run_to_end(folder, place.manager, progress, secrets)


def make_spec(place: Place, paths: tuple[str, ...], said: dict[str, Any]) -> tuple[RunSpec, str]:
    """What the run will do: the base commit, and the tests that pytest collects there."""
    draft, why = _draft(place, paths, said)
    env = environment(said, "env", draft.options.env_names)
    redactor = make_redactor(env, draft.repo, draft.base)
    with no_values_in_errors(redactor), Copies(draft, env, place.manager) as copies:
        spec = _with_tasks(place, draft, copies)
        refuse_test_ids(spec, redactor)
        return spec, why


def _draft(place: Place, paths: tuple[str, ...], said: dict[str, Any]) -> tuple[RunSpec, str]:
    """The run before its tests are known, and in words where its number of slots comes from."""
    options, why = new_options(said, place.manager)
    base, folder = _commit(place.repo, str(said.get("base", "HEAD"))), _folder(place)
    wanted = Wanted(place.repo, base, folder, is_local=options.provider in ("", "local"))
    lender = find_pytest_command(wanted, said, place.manager.env)
    spec = RunSpec(
        _name(said),
        place.repo,
        base,
        time.time(),
        (),
        lender.pytest,
        paths or _paths(said),
        _tutorial(place, said),
        msgspec.structs.replace(options, own_venv=lender.own_venv),
        folder=folder,
    )
    return spec, why


def _with_tasks(place: Place, spec: RunSpec, copies: Copies) -> RunSpec:
    collected = collect(spec, copies)
    if collected.wrong_code:
        raise mngr.RefusedError(
            f"wrong code under test: {collected.wrong_code}",
            hint="let every copy have its own environment (--own-venv), or say how one is made there: --setup CMD "
            "--pytest CMD; see docs/pipeline.md, Your own project",
        )
    return msgspec.structs.replace(spec, tasks=with_expected(place.runs, collected.tasks))


def _name(said: dict[str, Any]) -> str:
    name = str(said.get("name") or f"{time.strftime('%m%d-%H%M%S')}-{secrets.token_hex(1)}")
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii() or len(name) > 30:
        raise mngr.UsageError(
            f"a run cannot be called {name!r}",
            hint="letters, digits, - and _, at most 30: it is in branch names",
        )
    return name


def _paths(said: dict[str, Any]) -> tuple[str, ...]:
    paths = said.get("paths", ())
    return (paths,) if isinstance(paths, str) else tuple(paths)


def _tutorial(place: Place, said: dict[str, Any]) -> str:
    """The tutorial whose blocks the tests cite, relative to the repository; empty when there is none."""
    section = place.manager.config.section("tutorial")
    path = str(said.get("tutorial") or section.get("tutorial") or "tutorial.sh")
    return path if os.path.isfile(os.path.join(place.repo, path)) else ""


def _folder(place: Place) -> str:
    """Where in the repository we are: pytest runs there in every copy, so that paths mean what they mean here."""
    here = os.path.relpath(os.path.realpath(place.manager.cwd), os.path.realpath(place.repo))
    return "" if here == "." else here


def _commit(repo: str, ref: str) -> str:
    done = run_git(repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if done.code:
        hint = "commit something first" if ref == "HEAD" else "see: git log --oneline"
        raise mngr.UsageError(f'"{ref}" is no commit of {repo}', hint=hint)
    return done.text.strip()
