"""A desk in each test's own folder."""

from pathlib import Path

import pytest
from tests.e2e_kit.tutorial.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "a project")
