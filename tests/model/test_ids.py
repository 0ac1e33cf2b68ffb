"""Names and ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr.errors import UsageError
from mngr.model.ids import check_name, is_agent_id, is_valid_name, new_agent_id, random_name, slug


def test_ids_are_unique_and_of_one_length() -> None:
    ids = {new_agent_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert {len(agent_id) for agent_id in ids} == {38}
    assert all(map(is_agent_id, ids))


def test_auto_names_are_valid() -> None:
    assert all(is_valid_name(random_name()) for _ in range(500))


@pytest.mark.accept("Q7")
@pytest.mark.parametrize(
    "name", ["", "-a", "a-", "_a", "a.b", "a:b", "a/b", "..", "a b", "a\n", "ä", "a" * 64, "$(id)"]
)
def test_hostile_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be used"):
        check_name(name)


@given(st.text(), st.integers(1, 80))
def test_a_slug_is_empty_or_a_name(text: str, limit: int) -> None:
    made = slug(text, min(limit, 63))
    assert made == "" or is_valid_name(made)
