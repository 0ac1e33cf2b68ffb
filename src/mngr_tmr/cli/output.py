"""Where a command writes: progress to stderr, its result to stdout."""

import io
import sys

import click

from mngr_lib.command_options import is_quiet
from mngr_tmr.report.out.progress import Progress
from mngr_tmr.report.report import WrittenReport
from mngr_tmr.run_folder.redact import NOTHING_TO_HIDE, Redactor


def progress_of(form: str, redactor: Redactor = NOTHING_TO_HIDE) -> Progress:
    """The progress of a command; JSON lines are its result and go to stdout, and with -q text is dropped."""
    if form == "human" and is_quiet():
        return Progress(form, _NoOutput(), redactor)
    return Progress(form, sys.stdout if form == "jsonl" else sys.stderr, redactor)


class _NoOutput(io.StringIO):
    """A stream that keeps nothing."""

    def write(self, text: str) -> int:
        return len(text)


def show(reported: WrittenReport) -> None:
    for line in reported.lines:
        click.echo(line)
