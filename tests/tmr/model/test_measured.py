"""The table of a run in words: who passes on the branch, who fails, and what failed before."""

import msgspec
import pytest

from mngr_tmr.model.integration import Integration
from mngr_tmr.model.measured import BranchCounts, MeasuredOutcomes, Measurement, count, headline, in_words


def table(*cells: tuple[str, str]) -> tuple[MeasuredOutcomes, ...]:
    return tuple(
        MeasuredOutcomes(f"t::{number}", Measurement(base), tip=Measurement(tip), is_added=base == "missing")
        for number, (base, tip) in enumerate(cells)
    )


@pytest.mark.accept("M20")
@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([("passed", "passed")] * 26 + [("failed", "failed")] * 2, "26 pass, 2 fail (both failed before)"),
        ([("failed", "passed")], "1 passes"),
        ([("failed", "failed")], "0 pass, 1 fails (it failed before)"),
        ([("passed", "error")], "0 pass, 1 fails (it did not fail before)"),
        ([("missing", "failed")], "0 pass, 1 fails (it did not fail before)"),
        ([("failed", "failed")] * 3, "0 pass, 3 fail (all failed before)"),
        ([("failed", "failed"), ("passed", "failed")], "0 pass, 2 fail (1 failed before)"),
        ([("passed", "failed")] * 2, "0 pass, 2 fail (none failed before)"),
        (
            [("passed", "flaky"), ("skipped", "skipped")],
            "0 pass, 1 fails (it did not fail before, 1 flaky), 1 skipped",
        ),
        ([("passed", "")], "0 pass, 1 not run"),
        ([("cannot_tell", "cannot_tell")], "0 pass, 1 fails (it failed before)"),
    ],
)
def test_counts_in_words(cells: list[tuple[str, str]], words: str) -> None:
    assert in_words(count(table(*cells))) == words


def test_fixed_is_what_failed_at_the_base_and_passes_at_the_tip() -> None:
    cells = (
        ("failed", "passed"),
        ("error", "passed"),
        ("missing", "passed"),
        ("skipped", "passed"),
        ("failed", ""),
    )
    assert count(table(*cells)) == BranchCounts(passed=4, not_run=1, fixed=2)


def test_a_branch_that_was_never_measured_has_no_headline() -> None:
    old = msgspec.json.decode(b'{"base": "b", "branch": "x", "tip": "t"}', type=Integration)
    assert old.measured == ()
    assert headline(old.measured) == ""
    assert headline(table(("failed", "failed")), is_base=True).startswith(
        "on the branch, which is the base: 0 pass"
    )
