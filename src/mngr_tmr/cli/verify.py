"""`mngr tmr verify`."""

import click
import msgspec

import mngr
from mngr_tmr.cli.places import find_place
from mngr_tmr.cli.settings import environment, out_option, read_settings
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.task import Task
from mngr_tmr.report.out.terminal import printable
from mngr_tmr.run_folder.records import Records
from mngr_tmr.run_folder.redact import no_values_in_errors
from mngr_tmr.verify.verify import verify


@click.command("verify")
@click.argument("run")
@click.argument("tests", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="One line of JSON per test.")
@out_option
@click.pass_context
def command(
    context: click.Context, /, run: str, tests: tuple[str, ...], as_json: bool, out: str | None
) -> int:
    """Run the tests of a run once more at their agents' commits, each in a fresh copy; all of them without TESTS.

    A test is named by its node id, the end of it, or its task. Exit code 1 when a verdict is not "passed".

    \b
    mngr tmr verify nightly
    mngr tmr verify nightly test_total_adds_up
    """
    place = find_place(context, out)
    records = Records(place.run(run))
    env = environment(read_settings(place.manager, {}), "env", records.state.options.env_names)
    folder = records.folder.hiding(env)
    all_passed = True
    for record in chosen(records.tasks(), tests):
        with no_values_in_errors(folder.redactor):
            seen = verify(records.spec, record.task, record.commit, env=env, manager=place.manager)
        verified = folder.redactor.record(seen)
        folder.writer.write_json(folder.file(record.task.slug, record.attempt, "verified.json"), verified)
        all_passed = all_passed and verified.verdict == "passed"
        line = f"{verified.verdict:<11} {record.task.node_id} {verified.reason}".rstrip()
        click.echo(msgspec.json.encode(verified).decode() if as_json else printable(line))
    return 0 if all_passed else 1


def chosen(records: tuple[TaskRecord, ...], tests: tuple[str, ...]) -> list[TaskRecord]:
    """The tasks that were meant; one that has no commit of its own cannot be verified."""
    found = [record for record in records if record.commit and (not tests or is_meant(record.task, tests))]
    for test in tests:
        if not any(is_meant(record.task, (test,)) for record in records):
            raise mngr.NotFoundError(f'no test "{test}" in this run', hint="see: mngr tmr status")
    return found


def is_meant(task: Task, tests: tuple[str, ...]) -> bool:
    """Whether one of these words names the task: its node id, the end of that, or its slug."""
    return any(test in (task.node_id, task.slug) or task.node_id.endswith(f"::{test}") for test in tests)
