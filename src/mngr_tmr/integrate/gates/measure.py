"""The table of a run: every test at the base, at its agent's commit and at the tip of the branch. Pure."""

from collections.abc import Mapping, Sequence

from mngr_tmr.agent_text import one_line
from mngr_tmr.model.measured import MeasuredOutcomes, Measurement
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.verdict import Verified

_UNSEEN = Measurement(reason="it was not run there")


def measure(
    records: Sequence[TaskRecord],
    added: Mapping[str, str] | None = None,
    tip: Mapping[str, Measurement] | None = None,
) -> tuple[MeasuredOutcomes, ...]:
    """A row for each test of the run, then for each that was `added`, by test the task that added it.

    Without `tip`, the branch is the base, and has its outcomes.
    """
    rows = []
    for record in records:
        test, base = record.task.node_id, _measured(record.before)
        if record.after is not None:
            agent = _measured(record.after)
        elif record.end == "failed":
            agent = Measurement(reason=one_line(f"{record.stage}: {record.message}"))
        else:
            why = "it was not checked" if record.commit else "there is no commit of its agent"
            agent = Measurement(reason=why)
        rows.append(MeasuredOutcomes(test, base, agent, base if tip is None else tip.get(test, _UNSEEN)))
    absent = Measurement("missing", "the base does not have it")
    for test, task in (added or {}).items():
        rows.append(MeasuredOutcomes(test, absent, _UNSEEN, (tip or {}).get(test, _UNSEEN), True, task))
    return tuple(rows)


def _measured(verified: Verified | None) -> Measurement:
    return Measurement(verified.verdict, one_line(verified.reason)) if verified else _UNSEEN
