"""Folders for artifacts: safe names, and none used twice."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr_e2e.session.artifacts import claim_attempt, runs_folder, slug


@given(st.text(max_size=300), st.text(max_size=300))
def test_a_slug_is_safe_short_and_its_tests_own(one: str, other: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,100}", slug(one))
    assert not slug(one).startswith("-")
    assert (slug(one) == slug(other)) == (one == other)


def test_a_long_slug_keeps_the_tests_own_name() -> None:
    found = slug("tests/" + "deep/" * 40 + "test_x.py::test_the_name")
    assert len(found) <= 100
    assert "test_x-test_the_name" in found


def test_a_slug_says_which_test_it_is() -> None:
    assert slug("tests/e2e/test_help.py::test_help_succeeds").startswith(
        "tests-e2e-test_help-test_help_succeeds-"
    )


@pytest.mark.accept("V4")
def test_claims_at_the_same_time_get_folders_of_their_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda _: claim_attempt(str(tmp_path), "run", "a::b"), range(16)))
    assert sorted(claim.number for claim in claims) == list(range(1, 17))
    assert len({claim.folder for claim in claims}) == 16


def test_runs_go_where_asked_then_to_the_outbox_then_below_the_root() -> None:
    agent = {"MNGR_OUTBOX": "/box"}
    assert runs_folder("/root", "/asked", agent) == "/asked"
    assert runs_folder("/root", None, agent) == "/box/artifacts"
    assert runs_folder("/root", None, {}) == "/root/.mngr/e2e"
