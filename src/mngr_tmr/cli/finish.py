"""The end of every command that ran tasks: integrate, report, say what there is, and the exit code."""

import io
import sys
from contextlib import suppress

import click
import msgspec

import mngr
from mngr_lib.command_options import is_quiet
from mngr_tmr.engine.state import RunState
from mngr_tmr.model.facts import RunResumed
from mngr_tmr.report.report import WrittenReport, write_report
from mngr_tmr.report.reporter import Reporter
from mngr_tmr.run.folder import RunFolder, read_json
from mngr_tmr.run.integrate_run import Secrets, integrate_run
from mngr_tmr.run.progress import Progress
from mngr_tmr.run.redact import NOTHING_TO_HIDE, Redactor
from mngr_tmr.run.start import run_tasks

INTERRUPTED = 130


def progress_of(form: str, redactor: Redactor = NOTHING_TO_HIDE) -> Progress:
    """JSON lines are the command's result and go to stdout; words about progress go to stderr."""
    if form == "human" and is_quiet():
        return Progress(form, _Nowhere(), redactor)
    return Progress(form, sys.stdout if form == "jsonl" else sys.stderr, redactor)


class _Nowhere(io.StringIO):
    """Where progress goes with -q."""

    def write(self, text: str) -> int:
        return len(text)


def run_to_end(
    folder: RunFolder,
    manager: mngr.Manager,
    progress: Progress,
    secrets: Secrets,
    resume: RunResumed | None = None,
) -> int:
    """Runs the tasks, integrates what was verified, writes the page; a run that was interrupted or stopped gets its
    page only."""
    folder = folder.hiding(secrets.tests, secrets.integrator)
    try:
        with Reporter(folder, observe=progress) as observe:
            state = run_tasks(
                folder,
                manager=manager,
                env=secrets.tests,
                observe=observe,
                resume=resume,
                tell=progress.say,
                integrate=lambda tell: integrate_run(folder, manager=manager, secrets=secrets, tell=tell),
            )
    except (mngr.MngrError, KeyboardInterrupt):
        with suppress(mngr.MngrError, OSError):
            write_report(folder)
        raise
    finally:
        progress.close()
    return _finish(folder, state, progress)


def _finish(folder: RunFolder, state: RunState, progress: Progress) -> int:
    if not state.can_integrate:
        reported = write_report(folder)
        left = len(state.queue) + sum(task.was_interrupted for task in state.tasks.values())
        not_run = "1 test was not run" if left == 1 else f"{left} tests were not run"
        unverified = f", {len(state.to_verify)} not verified" if state.to_verify else ""
        progress.say(f"{not_run}{unverified}: mngr tmr resume {state.spec.id}")
        if state.is_aborting or not state.stopped_why:
            return INTERRUPTED
    else:
        reported = write_report(folder)
    if progress.form == "jsonl":
        click.echo(msgspec.json.encode(read_json(folder.summary, dict)).decode())
    else:
        show(reported)
    return reported.exit_code


def show(reported: WrittenReport) -> None:
    for line in reported.lines:
        click.echo(line)
