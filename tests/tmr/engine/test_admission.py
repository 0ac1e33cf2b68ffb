"""Why a queued task is not launched now."""

from tests.tmr.engine.test_simulation import make_spec

from mngr_tmr.engine.admission import wait_of
from mngr_tmr.engine.state import fold
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import LaunchingStopped, RunInterrupted


def test_a_task_waits_only_while_launching_is_stopped_and_the_reason_is_kept() -> None:
    spec = make_spec(2)
    run, slug = fold(spec, [Entry(1, "base", "done")]), spec.tasks[0].slug
    assert wait_of(run, slug, 10) is None
    run.apply(Entry(5, "run", "noted", fact=LaunchingStopped("3 agents ended with the same error")))
    wait = wait_of(run, slug, 10)
    assert wait is not None
    assert (wait.reason, wait.text) == ("stopped", "3 agents ended with the same error")
    interrupted = fold(spec, [Entry(5, "run", "noted", fact=RunInterrupted())])
    wait = wait_of(interrupted, slug, 10)
    assert wait is not None
    assert (wait.reason, wait.text) == ("stopped", "nothing more is launched")
