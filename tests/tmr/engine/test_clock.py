"""The run's clock: never backwards, and deaf to a machine's clock that is set while it runs."""

import pytest

from mngr_tmr.engine.clock import RunClock


@pytest.mark.accept("Q12", "Q2")
def test_a_clock_that_is_set_changes_nothing_and_one_that_was_set_back_starts_at_the_journals_end() -> None:
    machine = {"wall": 1000.0, "elapsed": 5.0}
    clock = RunClock(900.0, wall=lambda: machine["wall"], elapsed=lambda: machine["elapsed"])
    assert clock.now() == 1000.0
    machine.update(wall=90_000.0, elapsed=6.0)
    assert clock.now() == 1001.0
    machine.update(wall=-5.0, elapsed=7.0)
    assert clock.now() == 1002.0
    later = RunClock(clock.now(), wall=lambda: machine["wall"], elapsed=lambda: machine["elapsed"])
    assert later.now() == 1002.0
