"""Makes failures inside the shipped conformance suite readable, and lends the tests a Docker engine."""

from tests.support.docker import engine
from tests.support.modal.service import modal

__all__ = ["engine", "modal"]
