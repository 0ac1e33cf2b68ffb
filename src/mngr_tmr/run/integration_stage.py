"""Integration as a stage of a run: its beginning, its steps and its end are entries of the journal, with times."""

from collections.abc import Callable

import mngr
from mngr_tmr.engine.clock import RunClock
from mngr_tmr.engine.journal import Journal, JournalBusyError, read_journal, storable
from mngr_tmr.engine.state import fold
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import BranchBuilt, IntegrationRepeated
from mngr_tmr.model.integration import Integration
from mngr_tmr.run_folder.folder import RunFolder, read_spec
from mngr_tmr.run_folder.log import RunLog, error_text

Tell = Callable[[str], None]
Integrate = Callable[[Tell], Integration]
Record = Callable[[Entry], None]


def run_stage(integrate: Integrate, record: Record, now: Callable[[], float], log: RunLog) -> Integration:
    """Integrates, and records each step and how it ended; "intended" has been recorded by the caller.

    An interrupt records nothing: an integration without an end is one that `resume` does again.
    """
    last = ""

    def tell(step: str) -> None:
        nonlocal last
        if step != last:
            last = step
            record(Entry(now(), "integrate", "noted", message=step))

    try:
        integration = integrate(tell)
    except Exception as error:
        log.unexpected("integrate", error)
        record(Entry(now(), "integrate", "failed", message=error_text(error)))
        raise
    record(Entry(now(), "integrate", "done", fact=BranchBuilt(integration.branch, integration.tip)))
    return integration


def integrate_again(folder: RunFolder, integrate: Integrate, say: Tell) -> Integration:
    """Integrates a run whose tasks are over and says each step. Refused while another process is at work on the run."""
    journal = open_journal(folder)
    try:
        clock = RunClock(fold(read_spec(folder), read_journal(folder.journal)).last_at)
        journal.append(Entry(clock.now(), "integrate", "intended", fact=IntegrationRepeated()))

        def record(entry: Entry) -> None:
            journal.append(storable(entry))
            if entry.kind == "noted":
                say(f"integrating: {entry.message}")

        return run_stage(integrate, record, clock.now, RunLog(folder))
    finally:
        journal.close()


def open_journal(folder: RunFolder) -> Journal:
    """The run's journal, held for this process alone."""
    try:
        return Journal(folder.journal, clean=folder.redactor.record)
    except JournalBusyError:
        raise mngr.RefusedError(
            "another process is at work on this run", hint=f"watch it: mngr tmr status {folder.path}"
        ) from None
