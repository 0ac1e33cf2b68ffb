"""The fixture `model`: import it into a conftest."""

from collections.abc import Iterator

import pytest
from tests.support.model.server import Model


@pytest.fixture
def model() -> Iterator[Model]:
    """A scripted model that answers while the test lasts."""
    running = Model()
    running.start()
    yield running
    running.stop()
