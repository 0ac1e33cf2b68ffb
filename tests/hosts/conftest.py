"""Makes failures inside the shipped conformance suite readable, and lends the tests a Docker engine."""

import pytest
from tests.support.docker import engine
from tests.support.modal.service import modal

pytest.register_assert_rewrite("mngr.hosts.conformance")

__all__ = ["engine", "modal"]
