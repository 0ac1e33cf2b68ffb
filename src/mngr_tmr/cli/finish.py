"""The end of every command that ran tasks: integrate, report, say what there is, and the exit code."""

from contextlib import suppress

import click
import msgspec

import mngr
from mngr_tmr.cli.output import show
from mngr_tmr.engine.state import RunState
from mngr_tmr.model.facts import RunResumed
from mngr_tmr.model.run import Secrets
from mngr_tmr.report.out.progress import Progress
from mngr_tmr.report.report import write_report
from mngr_tmr.report.reporter import Reporter
from mngr_tmr.run.integrate_run import integrate_run
from mngr_tmr.run.start import run_tasks
from mngr_tmr.run_folder.folder import RunFolder, read_json

INTERRUPTED = 130


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
