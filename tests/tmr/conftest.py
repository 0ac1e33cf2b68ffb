"""A project for each test."""

from tests.tmr.project import project

__all__ = ["project"]
