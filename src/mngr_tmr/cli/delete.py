"""`mngr tmr delete`."""

import os
import sys
from collections.abc import Iterable

import click
import msgspec
from msgspec import Struct

import mngr
from mngr_lib.command_options import note
from mngr_tmr.cli.places import Place, find_place
from mngr_tmr.cli.settings import out_option
from mngr_tmr.report.data.counts import plural
from mngr_tmr.report.out.terminal import printable
from mngr_tmr.run.cleanup import Leftovers, find_leftovers, remove
from mngr_tmr.run_folder.folder import read_spec
from mngr_tmr.run_folder.liveness import is_alive

_PARTIAL = 3


class Deleted(Struct, frozen=True, omit_defaults=True):
    """What became of one run that was named."""

    run: str
    changed: bool
    agents: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: str = ""


@click.command("delete")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--branches", is_flag=True, help="The integrated branch as well.")
@click.option("-y", "--yes", "-f", "--force", "yes", is_flag=True, help="Do not ask.")
@click.option("-n", "--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@out_option
@click.pass_context
def command(
    context: click.Context,
    runs: tuple[str, ...],
    branches: bool,
    yes: bool,
    dry_run: bool,
    as_json: bool,
    out: str | None,
) -> int:
    """Remove runs: their agents, the branches of their tasks, their folders; the integrated branch stays.

    The branches of tasks hold what agents committed; what was integrated is on the integrated branch in commits
    of its own, which --branches removes too. Asks first on a terminal; otherwise it needs --yes.

    \b
    mngr tmr delete nightly --dry-run
    mngr tmr delete nightly old-one --yes
    mngr tmr delete nightly --branches --yes
    """
    place = find_place(context, out)
    found, failed = _find(place, runs, all_branches=branches)
    for leftovers in found:
        for line in _leftover_lines(leftovers):
            note(printable(line))
    done = [Deleted(one.run, False, *_names(one)) for one in found]
    if found and not dry_run:
        if not yes:
            _confirm(found)
        done = [_delete(leftovers, place.manager) for leftovers in found]
    for one in done if not as_json else ():
        click.echo(printable(_line(one, dry_run)))
    for error in failed:
        click.echo(printable(f"error: {error.message}"), err=True)
        click.echo(printable(f"hint: {error.hint}"), err=True)
    if as_json:
        errors = [Deleted("", False, error=error.message) for error in failed]
        click.echo(msgspec.json.encode({"schema": 1, "runs": [*done, *errors]}).decode())
    return _exit_code(done, failed)


def _leftover_lines(leftovers: Leftovers) -> Iterable[str]:
    """Everything that will go and what will stay."""
    yield f"run {leftovers.run}: {leftovers.folder}"
    yield from (f"  agent {agent.name}, {agent.state}" for agent in leftovers.agents)
    yield from (f"  branch {branch.name} at {branch.commit[:12]}" for branch in leftovers.branches)
    yield from (f"  stays: branch {branch.name} at {branch.commit[:12]}" for branch in leftovers.kept)


def _find(
    place: Place, names: tuple[str, ...], *, all_branches: bool
) -> tuple[list[Leftovers], list[mngr.MngrError]]:
    found: dict[str, Leftovers] = {}
    failed: list[mngr.MngrError] = []
    for name in names:
        try:
            folder = place.run(name or " ")
            if is_alive(folder):
                raise mngr.RefusedError(
                    f'run "{name}" is going on',
                    hint="end it first: Ctrl-C where it runs, twice for its agents",
                )
            spec = read_spec(folder)
            found[folder.path] = find_leftovers(folder, spec, place.manager, all_branches=all_branches)
        except mngr.MngrError as error:
            failed.append(error)
    return list(found.values()), failed


def _confirm(found: list[Leftovers]) -> None:
    question = f"delete {', '.join(leftovers.run for leftovers in found)}?"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise mngr.RefusedError(f"not done without a confirmation: {question}", hint="say --yes")
    if not click.confirm(question, err=True):
        raise mngr.RefusedError("nothing was done")


def _delete(leftovers: Leftovers, manager: mngr.Manager) -> Deleted:
    try:
        notes = remove(leftovers, manager)
    except (mngr.MngrError, OSError) as error:
        return Deleted(leftovers.run, False, error=f"not all of it could be removed: {error}")
    return Deleted(leftovers.run, not os.path.exists(leftovers.folder), *_names(leftovers), notes)


def _names(leftovers: Leftovers) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    return (
        tuple(agent.name for agent in leftovers.agents),
        tuple(branch.name for branch in leftovers.branches),
        tuple(branch.name for branch in leftovers.kept),
    )


def _line(one: Deleted, dry_run: bool) -> str:
    if one.error:
        return f"{one.run}: {one.error}"
    verb = "would delete" if dry_run else "deleted"
    notes = "".join(f"; {note}" for note in one.notes)
    branches = "1 branch" if len(one.branches) == 1 else f"{len(one.branches)} branches"
    return f"{verb} {one.run}: {plural(len(one.agents), 'agent')}, {branches}{notes}"


def _exit_code(done: list[Deleted], failed: list[mngr.MngrError]) -> int:
    broken = [one for one in done if one.error]
    if not failed and not broken:
        return 0
    if len(broken) == len(done):
        return int(failed[0].exit_code) if failed else 1
    return _PARTIAL
