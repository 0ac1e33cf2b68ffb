"""Past runs, asked by a command or added by one that has run tests."""

import os

import msgspec

from mngr_lib.command_options import note
from mngr_tmr.history.facts import RunFacts, read_facts
from mngr_tmr.history.index import Question, T, add_to_index, ask_index
from mngr_tmr.report.data.read_run import read_run
from mngr_tmr.report.data.report_model import make_report_model
from mngr_tmr.report.out.summary import make_summary
from mngr_tmr.report.out.terminal import printable
from mngr_tmr.run_folder.folder import RunFolder
from mngr_tmr.run_folder.liveness import has_fresh_summary


def ask_past(runs: str, question: Question[T]) -> T:
    """The answer of the index of past runs, which is brought up to date first."""
    return ask_index(runs, question, _facts, lambda line: note(printable(line)))


def add_to_past(folder: RunFolder) -> None:
    """Adds a run that has ended to the index; an error is a line for the user."""
    runs, name = os.path.split(folder.path)
    add_to_index(runs, name, _facts, lambda line: note(printable(line)))


def _facts(folder: RunFolder) -> RunFacts:
    """From its summary where that is newer than everything it tells of, else from the whole folder."""
    if has_fresh_summary(folder):
        facts = read_facts(folder)
        if facts.is_over:
            return facts
    summary = make_summary(make_report_model(read_run(folder)), folder)
    return msgspec.json.decode(folder.redactor.json(summary), type=RunFacts)
