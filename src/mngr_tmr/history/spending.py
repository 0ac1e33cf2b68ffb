"""What the agents of all runs used on one day, by the journals."""

import os
import time
from collections.abc import Iterable

import mngr
from mngr_tmr.engine.journal import JournalError, read_journal
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import AgentsMetered, WorkPulled
from mngr_tmr.model.money import Used
from mngr_tmr.run_folder.folder import RunFolder, run_names


def used_today(runs: str, now: float) -> Used:
    """Since midnight, as far as it was read; a run whose journal cannot be read is left out."""
    day = time.localtime(now)
    midnight = time.mktime((day.tm_year, day.tm_mon, day.tm_mday, 0, 0, 0, 0, 0, -1))
    total = Used()
    for name in run_names(runs):
        journal = RunFolder(os.path.join(runs, name)).journal
        try:
            if os.stat(journal).st_mtime >= midnight:
                total += used_since(read_journal(journal), midnight)
        except (OSError, JournalError, mngr.MngrError):
            continue
    return total


def used_since(entries: Iterable[Entry], since: float) -> Used:
    """What the agents of one journal used after a moment: the last reading of each less the last one before it."""
    before: dict[tuple[str, int], Used] = {}
    after: dict[tuple[str, int], Used] = {}
    attempts: dict[str, int] = {}
    for entry in entries:
        if entry.step == "launch":
            attempts[entry.task] = entry.attempt
        readings = entry.fact.used if isinstance(entry.fact, AgentsMetered) else {}
        if isinstance(entry.fact, WorkPulled) and entry.fact.used:
            readings = {entry.task: entry.fact.used}
        for slug, used in readings.items():
            (before if entry.at < since else after)[slug, attempts.get(slug, 0)] = used
    total = Used()
    for key, used in after.items():
        total += used + before.get(key, Used()) * -1
    return total
