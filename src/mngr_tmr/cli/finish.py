"""The end of every command that runs tests: prints what there is and gives the exit code."""

from collections.abc import Callable

import click
import msgspec

from mngr_tmr.cli.output import show
from mngr_tmr.cli.past import add_to_past
from mngr_tmr.report.out.progress import Progress
from mngr_tmr.report.report import WrittenReport
from mngr_tmr.run_folder.folder import read_json
from mngr_tmr.stages import Pipeline, Stage, walk

INTERRUPTED = 130


def run_to_end(
    pipeline: Pipeline, progress: Progress, first: Stage, show: Callable[[WrittenReport], None] = show
) -> int:
    """Walks the stages from this one to the end, shows the report and returns the exit code."""
    try:
        pipeline = walk(pipeline, first)
    finally:
        progress.close()
    state, written = pipeline.state, pipeline.written
    assert state is not None
    assert written is not None
    add_to_past(pipeline.run_folder)
    if state.queue or not state.can_integrate:
        left = len(state.queue) + sum(task.was_interrupted for task in state.tasks.values())
        not_run = "1 test was not run" if left == 1 else f"{left} tests were not run"
        unverified = f", {len(state.to_verify)} not verified" if state.to_verify else ""
        is_daily = "daily budget" in state.stopped_why
        more = " --budget MORE" if state.is_out_of_budget and not is_daily else ""
        progress.say(f"{not_run}{unverified}: mngr tmr resume {state.spec.id}{more}")
        if state.is_aborting or not state.stopped_why:
            return INTERRUPTED
    if progress.form == "jsonl":
        click.echo(msgspec.json.encode(read_json(pipeline.run_folder.summary, dict)).decode())
    else:
        show(written)
    return written.exit_code
