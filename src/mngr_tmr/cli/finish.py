"""The end of every command that ran tasks: integrate, report, say what there is, and the exit code."""

import sys

import click
import msgspec

import mngr
from mngr_tmr.engine.state import RunState
from mngr_tmr.report.report import Reported, write_report
from mngr_tmr.run.folder import RunFolder, read_json
from mngr_tmr.run.progress import Progress
from mngr_tmr.run.reduce import Secrets, integrate_run

INTERRUPTED = 130


def progress_of(form: str) -> Progress:
    """JSON lines are the command's result and go to stdout; words about progress go to stderr."""
    return Progress(form, sys.stdout if form == "jsonl" else sys.stderr)


def finish(
    folder: RunFolder, state: RunState, manager: mngr.Manager, progress: Progress, secrets: Secrets
) -> int:
    """Integrates what was verified and writes the page; a run that was interrupted gets its page only."""
    progress.close()
    if state.queue or state.is_aborting:
        write_report(folder)
        left = len(state.queue) + sum(task.was_interrupted for task in state.tasks.values())
        progress.say(f"{left} tests were not run: mngr tmr resume {state.spec.id}")
        return INTERRUPTED
    progress.say("integrating")
    integrate_run(folder, manager=manager, secrets=secrets)
    reported = write_report(folder)
    if progress.form == "jsonl":
        click.echo(msgspec.json.encode(read_json(folder.summary, dict)).decode())
    else:
        show(reported)
    return reported.exit_code


def show(reported: Reported) -> None:
    for line in reported.lines:
        click.echo(line)
