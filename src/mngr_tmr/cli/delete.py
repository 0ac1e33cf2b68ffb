"""`mngr tmr delete`."""

import os
import sys
import time
from collections.abc import Iterable

import click
import msgspec
from msgspec import Struct

import mngr
from mngr_lib.command_options import note
from mngr_tmr.cli.places import Place, find_place
from mngr_tmr.cli.settings import out_option
from mngr_tmr.report.data.counts import in_bytes, plural
from mngr_tmr.report.out.terminal import printable
from mngr_tmr.report.report import write_report
from mngr_tmr.run.cleanup import Leftovers, find_leftovers, remove
from mngr_tmr.run_folder.evidence import has_evidence
from mngr_tmr.run_folder.folder import read_spec, run_names
from mngr_tmr.run_folder.liveness import has_fresh_summary, is_alive

_PARTIAL = 3


class Deleted(Struct, frozen=True, omit_defaults=True):
    """What became of one run that was meant. `bytes` were on this disk; `reports` is where they stay, if they do."""

    run: str
    changed: bool
    agents: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    snapshot: str = ""
    bytes: int = 0
    reports: str = ""
    notes: tuple[str, ...] = ()
    error: str = ""


@click.command("delete")
@click.argument("runs", nargs=-1, metavar="RUN...")
@click.option(
    "--older-than", metavar="TIME", help="Of these runs, or of all, those that began longer ago: 30d."
)
@click.option(
    "--keep-reports", is_flag=True, help="Keep the page, summary.json, junit.xml and pr.md of each."
)
@click.option("--branches", is_flag=True, help="The integrated branch as well.")
@click.option("-y", "--yes", "-f", "--force", "yes", is_flag=True, help="Do not ask.")
@click.option("-n", "--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@out_option
@click.pass_context
def command(
    context: click.Context,
    runs: tuple[str, ...],
    older_than: str | None,
    keep_reports: bool,
    branches: bool,
    yes: bool,
    dry_run: bool,
    as_json: bool,
    out: str | None,
) -> int:
    """Remove runs: agents, hosts, snapshots, task branches, folders; the integrated branch stays.

    The branches of tasks hold what agents committed; what was integrated is on the integrated branch in commits
    of its own, which --branches removes too. With --keep-reports the page and the summary stay, and history keeps the
    run; it cannot be resumed or integrated again. Asks first on a terminal; otherwise it needs --yes.

    \b
    mngr tmr delete nightly --dry-run
    mngr tmr delete nightly old-one --yes
    mngr tmr delete nightly --branches --yes
    mngr tmr delete --older-than 30d --keep-reports --yes
    """
    place = find_place(context, out)
    names, older_s = list(runs), None
    if older_than is not None:
        older_s = mngr.parse_duration(older_than)
        names = names or run_names(place.runs)
    elif not names:
        raise mngr.UsageError(
            "which runs?", hint="name them, or say --older-than 30d; see: mngr tmr runs --sizes"
        )
    found, failed = _find(place, names, older_s=older_s, all_branches=branches, keeps_reports=keep_reports)
    if not (found or failed):
        note(
            f"nothing to delete: no run is older than {older_than}"
            + (" and has more than reports" * keep_reports)
        )
    for leftovers in found:
        for line in _leftover_lines(leftovers):
            note(printable(line))
    done = [_deleted(one) for one in found]
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
    yield f"run {leftovers.run}: {leftovers.folder.path}, {in_bytes(leftovers.freed)}"
    for agent in leftovers.agents:
        place = f", on {agent.host.name}.{agent.host.provider}" if agent.host.provider != "local" else ""
        yield f"  agent {agent.name}, {agent.state}{place}"
    yield from ((f"  snapshot {leftovers.snapshot}",) if leftovers.snapshot else ())
    yield from (f"  branch {branch.name} at {branch.commit[:12]}" for branch in leftovers.branches)
    yield from (f"  stays: branch {branch.name} at {branch.commit[:12]}" for branch in leftovers.kept)
    yield from (
        (f"  stays: {leftovers.folder.report}, {in_bytes(leftovers.size.reports)}",) * leftovers.keeps_reports
    )


def _find(
    place: Place, names: list[str], *, older_s: float | None, all_branches: bool, keeps_reports: bool
) -> tuple[list[Leftovers], list[mngr.MngrError]]:
    """With an age, runs that are younger, go on or have nothing left are not meant."""
    found: dict[str, Leftovers] = {}
    failed: list[mngr.MngrError] = []
    agents = mngr.list_agents(manager=place.manager).agents
    for name in names:
        try:
            folder = place.any_run(name or " ")
            began_at = read_spec(folder).created_at
            if older_s is not None and (is_alive(folder) or time.time() - began_at <= older_s):
                continue
            if is_alive(folder):
                raise mngr.RefusedError(
                    f'run "{name}" is going on',
                    hint="end it first: Ctrl-C where it runs, twice for its agents",
                )
            leftovers = find_leftovers(
                folder, agents, place.manager, all_branches=all_branches, keeps_reports=keeps_reports
            )
            if older_s is None or not leftovers.is_empty:
                found[folder.path] = leftovers
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
    folder = leftovers.folder
    try:
        if leftovers.keeps_reports and has_evidence(folder) and not has_fresh_summary(folder):
            write_report(folder)
        notes = remove(leftovers, manager)
    except (mngr.MngrError, OSError) as error:
        return Deleted(leftovers.run, False, error=f"not all of it could be removed: {error}")
    is_gone = not (has_evidence(folder) if leftovers.keeps_reports else os.path.exists(folder.path))
    return msgspec.structs.replace(_deleted(leftovers), changed=is_gone, notes=notes)


def _deleted(leftovers: Leftovers) -> Deleted:
    """What is to go, before it goes."""
    return Deleted(
        leftovers.run,
        False,
        tuple(agent.name for agent in leftovers.agents),
        tuple(branch.name for branch in leftovers.branches),
        tuple(branch.name for branch in leftovers.kept),
        leftovers.snapshot,
        leftovers.freed,
        leftovers.folder.report if leftovers.keeps_reports else "",
    )


def _line(one: Deleted, dry_run: bool) -> str:
    if one.error:
        return f"{one.run}: {one.error}"
    verb = "would delete" if dry_run else "deleted"
    notes = "".join(f"; {note}" for note in one.notes)
    branches = "1 branch" if len(one.branches) == 1 else f"{len(one.branches)} branches"
    snapshot = f", snapshot {one.snapshot}" if one.snapshot else ""
    reports = "; reports kept" if one.reports else ""
    return (
        f"{verb} {one.run}: {plural(len(one.agents), 'agent')}, {branches}{snapshot}, {in_bytes(one.bytes)}"
        f"{reports}{notes}"
    )


def _exit_code(done: list[Deleted], failed: list[mngr.MngrError]) -> int:
    broken = [one for one in done if one.error]
    if not failed and not broken:
        return 0
    if len(broken) == len(done):
        return int(failed[0].exit_code) if failed else 1
    return _PARTIAL
