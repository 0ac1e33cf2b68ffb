"""Counts in words, the same in every form of the report."""

from collections.abc import Sequence

from mngr_tmr.report.data.causes import FailureCause, count_failures, count_fixed
from mngr_tmr.report.data.report_model import ReportModel
from mngr_tmr.report.data.sections import SECTIONS


def plural(count: int, noun: str) -> str:
    """`1 cause`, `3 causes`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def failures_and_causes(causes: Sequence[FailureCause]) -> str:
    """`20 failures (18 fixed), 8 causes`; fixed is what failed at the base and passes on the branch."""
    failures, fixed = count_failures(causes), count_fixed(causes)
    mark = "" if not fixed else f" ({fixed} fixed)" if fixed < failures else " (all fixed)"
    mark = " (fixed)" if fixed == failures == 1 else mark
    return f"{plural(failures, 'failure')}{mark}, {plural(len(causes), 'cause')}"


def count_line(model: ReportModel) -> str:
    """`12 tests: 3 implementation fixes, 8 already passing, 1 no result`."""
    parts = []
    for name, count in model.counts().items():
        section = SECTIONS[name]
        parts.append(f"{count} {section.one if count == 1 and section.one else section.title.lower()}")
    return f"{plural(model.collected, 'test')}: {', '.join(parts) or 'none'}"


def in_bytes(count: float) -> str:
    """`0 B`, `950 kB`, `1.2 GB`."""
    for scale, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= scale:
            return f"{count / scale:.{int(count < 10 * scale)}f} {unit}"
    return f"{count:.0f} B"
