"""Counts in words, the same in every form of the report."""

from collections.abc import Mapping, Sequence
from typing import Any

from mngr_tmr.report.data.causes import FailureCause, count_failures, count_fixed
from mngr_tmr.report.data.report_model import ReportModel
from mngr_tmr.report.data.sections import SECTIONS

_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def plural(count: int, noun: str) -> str:
    """`1 cause`, `3 causes`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def failures_and_causes(causes: Sequence[FailureCause]) -> str:
    """`20 failures (18 fixed), 8 causes`; fixed is what failed at the base and passes on the branch."""
    failures, fixed = count_failures(causes), count_fixed(causes)
    mark = "" if not fixed else f" ({fixed} fixed)" if fixed < failures else " (all fixed)"
    mark = " (fixed)" if fixed == failures == 1 else mark
    return f"{plural(failures, 'failure')}{mark}, {plural(len(causes), 'cause')}"


def cost_of(usage: Mapping[str, Any]) -> float | None:
    """Dollars, where they are known."""
    cost = usage.get("cost_usd")
    return float(cost) if isinstance(cost, int | float) else None


def tokens_of(usage: Mapping[str, Any]) -> int:
    """All tokens, cached ones included."""
    return sum(int(usage[name]) for name in _TOKENS if isinstance(usage.get(name), int | float))


def count_line(model: ReportModel) -> str:
    """`12 tests: 3 implementation fixes, 8 already passing, 1 no result`."""
    parts = []
    for name, count in model.counts().items():
        section = SECTIONS[name]
        parts.append(f"{count} {section.one if count == 1 and section.one else section.title.lower()}")
    return f"{plural(model.collected, 'test')}: {', '.join(parts) or 'none'}"
