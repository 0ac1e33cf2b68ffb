"""The lines that a person sees while a run goes on."""

import pytest
from tests.tmr.engine.test_simulation import make_spec

from mngr_tmr.engine.state import fold
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import ProviderRefusal
from mngr_tmr.report.out.progress import entry_line, summary


@pytest.mark.accept("E3", "U2")
def test_a_provider_that_refuses_for_now_is_one_line_and_not_one_per_task() -> None:
    run = fold(make_spec(3), [Entry(1, "base", "done")])
    for slug in run.tasks:
        run.apply(Entry(2, "launch", "intended", slug, 1))
    lines = []
    for at, slug in enumerate(run.tasks, 3):
        entry = Entry(at, "launch", "later", slug, 1, "too many requests", ProviderRefusal(seed=1))
        run.apply(entry)
        lines.append(entry_line(run, entry))
    assert lines == ["waiting for capacity: too many requests", "", ""]
    assert "3 queued" in summary(run)
    assert "waiting for capacity" in summary(run)
    first = next(iter(run.tasks))
    run.apply(Entry(60, "launch", "intended", first, 1))
    again = Entry(61, "launch", "later", first, 1, "too many requests", ProviderRefusal(seed=1))
    run.apply(again)
    assert entry_line(run, again) == ""
