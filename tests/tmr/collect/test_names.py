"""Names of tasks: valid for an agent, a branch and a folder, and no two alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr.model.ids import is_valid_name
from mngr.transfer.source import check_branch
from mngr_tmr.collect.collect import unique_tasks
from mngr_tmr.copies.facts import CollectedTest
from mngr_tmr.model.task import agent_of, branch_of

texts = st.text(min_size=1, max_size=120)


@pytest.mark.accept("C3", "Q7")
@given(st.lists(texts, unique=True, max_size=30), st.from_regex(r"[a-z0-9]{1,30}", fullmatch=True))
def test_every_test_has_a_valid_name_of_its_own(node_ids: list[str], run: str) -> None:
    tests = [CollectedTest(node_id, "f.py") for node_id in node_ids]
    tasks = unique_tasks(tests)
    assert [task.node_id for task in tasks] == node_ids
    names = [agent_of(run, task.slug, attempt) for task in tasks for attempt in (1, 2, 30)]
    assert all(map(is_valid_name, names))
    assert len(set(names)) == len(names)
    branches = [branch_of(run, task.slug, attempt) for task in tasks for attempt in (1, 2)]
    assert [check_branch(branch) for branch in branches] == branches
    assert len({branch.lower() for branch in branches}) == len(branches)
    assert unique_tasks(tests) == tasks


@pytest.mark.accept("C3")
def test_two_tests_whose_names_would_be_one_get_two() -> None:
    same = CollectedTest("a.py::test_x", "a.py")
    first, second = unique_tasks([same, same])
    assert first.slug != second.slug
