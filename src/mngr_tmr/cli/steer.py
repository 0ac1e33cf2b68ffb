"""What `tmr pause`, `resume`, `set`, `retry` and `cancel` share: they ask the process that runs the run, and wait."""

import getpass
import os
import socket
import time
from typing import Any

import click

import mngr
from mngr_tmr.cli.places import find_place
from mngr_tmr.cli.verify import is_meant
from mngr_tmr.model.facts import RunSteered, SteeringAction
from mngr_tmr.report.data.read_run import read_entries
from mngr_tmr.report.out.terminal import printable
from mngr_tmr.run_folder.folder import RunFolder
from mngr_tmr.run_folder.liveness import is_alive
from mngr_tmr.run_folder.records import Records
from mngr_tmr.run_folder.requests import make_request, remove_request

_ANSWER_S, _EVERY_S = 15.0, 0.05


def steer(
    folder: RunFolder, action: SteeringAction, *, task: str = "", options: dict[str, Any] | None = None
) -> None:
    """Asks, waits until the run's journal has the request, and prints what it says; a refusal is an error."""
    run = os.path.basename(folder.path)
    if not is_alive(folder):
        words = f"no process is at work on run {run}"
        raise mngr.RefusedError(f"{words}: there is nothing to {action}", hint=_hint(action, run))
    name = make_request(folder, RunSteered("", action, _who(), options or {}), task)
    deadline = time.monotonic() + _ANSWER_S
    while True:
        was_alive = is_alive(folder)
        records = Records(folder, entries=read_entries(folder.journal, []))
        for entry in records.entries:
            if isinstance(entry.fact, RunSteered) and entry.fact.request == name:
                if entry.fact.refused:
                    raise mngr.RefusedError(
                        f"run {run} cannot {action} this: {entry.fact.refused}",
                        hint=f"see: mngr tmr status {run}",
                    )
                test = next(
                    (one.node_id for one in records.spec.tasks if one.slug == entry.task), f"run {run}"
                )
                click.echo(printable(f"{test}: {entry.message}"))
                return
        if not was_alive and not records.state.is_over:
            raise mngr.RefusedError(
                "the process that runs it has ended before it took this",
                hint=f"mngr tmr resume {run} takes it",
            )
        if not was_alive or records.state.integration.progress == "running":
            remove_request(folder, name)
            raise mngr.RefusedError(f"the tests of run {run} are over", hint=_hint(action, run))
        if time.monotonic() >= deadline:
            raise mngr.TimedOutError(
                f"the process that runs it did not take this within {_ANSWER_S:g} s",
                hint=f"it takes it when it goes on; see: mngr tmr status {run}",
            )
        time.sleep(_EVERY_S)


def steer_task(
    context: click.Context, action: SteeringAction, words: tuple[str, ...], out: str | None
) -> None:
    """Asks for one test of a run: `words` are the run and the test, or a test of the newest run."""
    *runs, test = words
    if len(runs) > 1:
        raise mngr.UsageError("one test at a time", hint=f"mngr tmr {action} {runs[0]} {runs[1]}")
    folder = find_place(context, out).known_run(runs[0] if runs else "")
    found = [record.task for record in Records(folder).tasks() if is_meant(record.task, (test,))]
    if len(found) != 1:
        names = ", ".join(task.node_id for task in found[:5])
        raise mngr.NotFoundError(
            f'{len(found)} tests are called "{test}"' if found else f'no test "{test}" in this run',
            hint=f"say which: {names}" if found else "see: mngr tmr status",
        )
    steer(folder, action, task=found[0].slug)


def _who() -> str:
    """The user and the machine, for the others who look at the run."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()}"


def _hint(action: SteeringAction, run: str) -> str:
    """What does the same, or comes next, where nothing runs."""
    return {
        "set": f"mngr tmr resume {run} takes the same as options, such as --slots 4",
        "retry": f"mngr tmr resume {run} --retry tries again what was lost",
    }.get(action, f"see: mngr tmr status {run}; to go on: mngr tmr resume {run}")
