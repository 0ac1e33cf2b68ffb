"""Every test of a run at the base, at its agent's commit and at the tip of the branch, and what they add up to."""

from collections.abc import Iterable

from msgspec import Struct

_NOT_RUN = ""
_FINE = ("passed", "skipped", _NOT_RUN)


class Measurement(Struct, frozen=True):
    """One test at one commit. `outcome` is a verdict, or "missing", or empty where the test was not run."""

    outcome: str = _NOT_RUN
    reason: str = ""

    @property
    def is_failure(self) -> bool:
        return self.outcome not in _FINE


class MeasuredOutcomes(Struct, frozen=True):
    """One row of the table. A test that the branch adds is missing at the base, and `added_by` names its task."""

    test: str
    base: Measurement = Measurement()
    agent: Measurement = Measurement()
    tip: Measurement = Measurement()
    is_added: bool = False
    added_by: str = ""

    @property
    def failed_before(self) -> bool:
        return self.base.is_failure and not self.is_added

    @property
    def is_fixed(self) -> bool:
        return self.failed_before and self.tip.outcome == "passed"


class BranchCounts(Struct, frozen=True):
    """How the tests do at the tip. `failed_before` and `flaky` are among `failed`, `fixed` among `passed`."""

    passed: int = 0
    failed: int = 0
    failed_before: int = 0
    flaky: int = 0
    skipped: int = 0
    not_run: int = 0
    fixed: int = 0


def count(tests: Iterable[MeasuredOutcomes]) -> BranchCounts:
    tests = tuple(tests)
    failing = [test for test in tests if test.tip.is_failure]
    return BranchCounts(
        passed=sum(test.tip.outcome == "passed" for test in tests),
        failed=len(failing),
        failed_before=sum(test.failed_before for test in failing),
        flaky=sum(test.tip.outcome == "flaky" for test in failing),
        skipped=sum(test.tip.outcome == "skipped" for test in tests),
        not_run=sum(test.tip.outcome == _NOT_RUN for test in tests),
        fixed=sum(test.is_fixed for test in tests),
    )


def in_words(counts: BranchCounts) -> str:
    """`26 pass, 2 fail (both failed before)`."""
    parts = [_verb(counts.passed, "pass", "passes")]
    if counts.failed:
        before = f"{counts.failed_before or 'none'} failed before"
        if counts.failed == 1:
            before = "it failed before" if counts.failed_before else "it did not fail before"
        elif counts.failed_before == counts.failed:
            before = f"{'both' if counts.failed == 2 else 'all'} failed before"
        notes = [before]
        notes += [f"{counts.flaky} flaky"] if counts.flaky else []
        parts.append(f"{_verb(counts.failed, 'fail', 'fails')} ({', '.join(notes)})")
    parts += [f"{counts.skipped} skipped"] if counts.skipped else []
    parts += [f"{counts.not_run} not run"] if counts.not_run else []
    return ", ".join(parts)


def headline(tests: Iterable[MeasuredOutcomes], *, is_base: bool = False) -> str:
    """The first sentence about a branch; empty where nothing was measured. `is_base`: it stands at the base."""
    tests = tuple(tests)
    if not tests:
        return ""
    place = "on the branch, which is the base" if is_base else "on the branch"
    return f"{place}: {in_words(count(tests))}"


def _verb(number: int, many: str, one: str) -> str:
    return f"{number} {one if number == 1 else many}"
