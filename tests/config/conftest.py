"""Config files of its own for each test."""

from pathlib import Path

import pytest
from tests.config.files import ConfigFiles


@pytest.fixture
def files(tmp_path: Path) -> ConfigFiles:
    return ConfigFiles(tmp_path)
