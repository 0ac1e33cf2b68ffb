"""Counts in words, the same in every form of the report."""

from mngr_tmr.report.contents import Contents
from mngr_tmr.report.sections import SECTIONS


def times(count: int, noun: str) -> str:
    """`1 cause`, `3 causes`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def counted(contents: Contents) -> str:
    """`12 tests: 3 implementation fixes, 8 clean, 1 lost`."""
    parts = [f"{count} {SECTIONS[name].title.lower()}" for name, count in contents.counts().items()]
    return f"{times(contents.collected, 'test')}: {', '.join(parts) or 'none'}"
