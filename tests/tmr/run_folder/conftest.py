"""A pipeline for each test."""

from tests.tmr.run.pipeline import pipeline

__all__ = ["pipeline"]
