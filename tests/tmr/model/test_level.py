"""How much gets done at each number of slots in use, and which number is worth it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr_tmr.model.level import Level, Occupied, add_levels, measure_levels, sweet_spot

TASKS = st.builds(Occupied, st.floats(0, 1e4), st.floats(0, 1e4), st.floats(0, 1e4), st.booleans())


@pytest.mark.accept("O15")
def test_a_task_counts_at_each_level_by_its_time_there() -> None:
    levels = measure_levels([Occupied(0, 100, waited_s=8), Occupied(50, 150, waited_s=0, has_failed=True)])
    assert levels == (
        Level(1, 100, tasks=1.0, failures=0.5, waited_s=4.0),
        Level(2, 50, tasks=1.0, failures=0.5, waited_s=4.0),
    )
    assert [level.tasks_per_hour for level in levels] == [18.0, 36.0]
    assert levels[0].wait_s == 4.0


@pytest.mark.accept("O15")
@given(st.lists(TASKS, max_size=30))
def test_every_task_and_every_second_counts_once(tasks: list[Occupied]) -> None:
    real = [task for task in tasks if task.end > task.start]
    levels = measure_levels(tasks)
    assert sum(level.tasks for level in levels) == pytest.approx(len(real))
    assert sum(level.failures for level in levels) == pytest.approx(sum(task.has_failed for task in real))
    occupied = sum(task.end - task.start for task in real)
    assert sum(level.seconds * level.slots for level in levels) == pytest.approx(occupied)
    assert add_levels([levels]) == levels


@pytest.mark.accept("O15")
def test_the_sweet_spot_is_the_fewest_slots_that_are_nearly_as_good_as_the_best() -> None:
    four, eight, sixteen = Level(4, 3600, 40), Level(8, 3600, 79), Level(16, 3600, 90, failures=8)
    assert sweet_spot((four, eight, sixteen)) == eight
    assert sweet_spot((four,)) is None
    assert sweet_spot((four, Level(8, 20, 79))) is None
