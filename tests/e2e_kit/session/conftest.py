"""A session to try, whose world is gone afterwards."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mngr_e2e import E2eSession
from mngr_e2e.session.artifacts import claim_attempt


@pytest.fixture
def session(tmp_path: Path) -> Iterator[E2eSession]:
    made = E2eSession(claim_attempt(str(tmp_path / "runs"), "run", "tests/test_a.py::test_b"))
    yield made
    made.finish("passed")
