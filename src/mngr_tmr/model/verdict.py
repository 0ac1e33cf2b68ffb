"""What was seen when the orchestrator itself ran a test: in a fresh copy, at a given commit."""

from typing import Literal

from msgspec import Struct

from mngr_tmr.model.dependencies import Dependencies

TestOutcome = Literal["passed", "failed", "error", "skipped", "missing"]
Verdict = Literal["passed", "failed", "flaky", "skipped", "error", "wrong_code", "cannot_tell"]


class TestRun(Struct, frozen=True):
    """One test, once."""

    __test__ = False
    node_id: str
    outcome: TestOutcome
    duration_s: float = 0.0
    message: str = ""


class Verified(Struct, frozen=True):
    """The verdict on one test at one commit.

    `wrong_code` means that other code than the copy's was tested, `cannot_tell` that the test passed and nothing shows
    which code it tested. `dependencies` are known of a test that passed, where its runs told them.
    """

    node_id: str
    commit: str
    verdict: Verdict
    reason: str = ""
    runs: tuple[TestRun, ...] = ()
    added: tuple[str, ...] = ()
    dependencies: Dependencies | None = None


def verdict_of(runs: tuple[TestRun, ...]) -> Verdict:
    """Several runs of one test make one verdict; a mixture is flaky, never passed."""
    seen = {run.outcome for run in runs}
    if seen == {"passed"}:
        return "passed"
    if seen == {"skipped"}:
        return "skipped"
    if "passed" in seen:
        return "flaky"
    return "failed" if "failed" in seen else "error"
