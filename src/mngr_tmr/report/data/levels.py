"""How much a run got done at each number of agents at once."""

from mngr_tmr.model.level import Level, Occupied, measure_levels
from mngr_tmr.report.data.report_model import RunReading

_HOLDS_SLOT = ("launch", "work", "pull", "stop")
_MOST_AWAY = 0.1


def levels_of(now: RunReading) -> tuple[Level, ...]:
    """None for a run that was left alone for long: its agents were at work, and nothing was decided."""
    if now.away_s > _MOST_AWAY * now.took_s:
        return ()
    stays = []
    for record in now.records:
        # All attempts as one stretch; the queue before a verification is no wait for a slot.
        at_work = [number for number, span in enumerate(record.spans) if span.kind == "work"]
        if at_work:
            before = [span for span in record.spans[: at_work[0]] if span.kind in ("queue", "launch")]
            held = [span for span in record.spans if span.kind in _HOLDS_SLOT]
            waited_s = sum(span.end - span.start for span in before)
            stays.append(Occupied(held[0].start, held[-1].end, waited_s, record.end == "failed"))
    return measure_levels(stays)
