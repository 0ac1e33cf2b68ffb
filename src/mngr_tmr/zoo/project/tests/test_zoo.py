"""A test for each animal; all of them pass."""

import pytest
from cage import door


def test_hangs():
    assert door() == "shut"


def test_floods():
    assert door() == "shut"


def test_lies():
    assert door() == "shut"


def test_leaks():
    assert door() == "shut"


def test_commits_a_secret():
    assert door() == "shut"


def test_deletes_tests():
    assert door() == "shut"


def test_deletes_others():
    assert door() == "shut"


def test_ignores_term():
    assert door() == "shut"


def test_links_out():
    assert door() == "shut"


def test_links_its_result():
    assert door() == "shut"


def test_plants_hooks():
    assert door() == "shut"


@pytest.mark.parametrize("state", ["shut"], ids=["<b onclick=alert(1)>"])
def test_escapes(state):
    assert door() == state


def test_huge_result():
    assert door() == "shut"


def test_huge_outbox():
    assert door() == "shut"


def test_many_changes():
    assert door() == "shut"


def test_spawns():
    assert door() == "shut"


def test_speaks_for_another():
    assert door() == "shut"


def test_rewrites_history():
    assert door() == "shut"


def test_names_a_file_after_its_token():
    assert door() == "shut"


def test_names_a_branch_after_its_token():
    assert door() == "shut"


def test_forges_its_end():
    assert door() == "shut"


def test_renames_itself():
    assert door() == "shut"
