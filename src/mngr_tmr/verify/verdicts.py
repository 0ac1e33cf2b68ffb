"""From the facts of a pytest run to the verdict on one test. Pure."""

from collections.abc import Sequence

from msgspec.structs import replace

from mngr_tmr.copies.copy import PytestResult
from mngr_tmr.copies.facts import PytestFacts
from mngr_tmr.model.verdict import TestOutcome, TestRun

_MESSAGE_MAX = 4000
_TAIL = 2000


def runs_of(ran: PytestResult, node_id: str) -> tuple[TestRun, ...]:
    """How one test went in one run of pytest; a test that was run again by a plugin went several times."""
    phases = [phase for phase in ran.facts.phases if phase.node_id == node_id]
    again = tuple(
        TestRun(node_id, "failed", phase.duration_s, phase.text)
        for phase in phases
        if phase.outcome == "rerun"
    )
    phases = [phase for phase in phases if phase.outcome != "rerun"]
    if not phases:
        return (*again, TestRun(node_id, _unseen(ran.facts, node_id), message=_why_unseen(ran, node_id)))
    seen = {phase.when for phase in phases}
    outcome: TestOutcome = "passed" if seen >= {"call", "teardown"} else "error"
    if any(phase.when != "call" and phase.outcome == "failed" for phase in phases):
        outcome = "error"
    elif any(phase.outcome == "failed" for phase in phases):
        outcome = "failed"
    elif any(phase.outcome == "skipped" for phase in phases):
        outcome = "skipped"
    messages = [phase.text for phase in phases if phase.text]
    if outcome == "error" and not messages:
        messages = [f"it did not come to its end{_at_deadline(ran)}\n{ran.output[-_TAIL:]}"]
    duration_s = sum(phase.duration_s for phase in phases)
    return (*again, TestRun(node_id, outcome, duration_s, "\n".join(messages)[-_MESSAGE_MAX:]))


def proven_run(ran: PytestResult, node_id: str) -> TestRun:
    """The last of these runs; a pass of other code than the copy's, or of code that nothing shows, is an error."""
    last = runs_of(ran, node_id)[-1]
    if ran.facts.wrong_code:
        return TestRun(node_id, "error", message=f"wrong code under test: {ran.facts.wrong_code}")
    unknown = ran.facts.cannot_tell(node_id) if last.outcome == "passed" else ""
    return (
        replace(last, outcome="error", message=f"cannot tell which code was tested: {unknown}")
        if unknown
        else last
    )


def _unseen(facts: PytestFacts, node_id: str) -> TestOutcome:
    is_there = any(test.node_id == node_id and not test.deselected for test in facts.tests)
    return "missing" if facts.has_ended and not facts.broken and not is_there else "error"


def _why_unseen(ran: PytestResult, node_id: str) -> str:
    file = node_id.partition("::")[0]
    broken = [
        one.text for one in ran.facts.broken if one.node_id in (file, "") or file.startswith(one.node_id)
    ]
    if broken:
        return f"pytest could not collect it:\n{broken[0]}"[-_MESSAGE_MAX:]
    if _unseen(ran.facts, node_id) == "missing":
        return "it is not there any more: deleted, renamed, or left out by the flags"
    return f"pytest did not get to it{_at_deadline(ran)} (exit code {ran.code}):\n{ran.output[-_TAIL:]}"


def _at_deadline(ran: PytestResult) -> str:
    return ": its deadline passed" if ran.timed_out else ""


def reason_of(runs: Sequence[TestRun]) -> str:
    """Why it did not pass, in one line: what pytest marks as the error, else the last words."""
    bad = [run for run in runs if run.outcome != "passed"]
    if not bad:
        return ""
    lines = [line.strip() for line in bad[0].message.split("\n") if line.strip()]
    marked = [line[1:].strip() for line in lines if line.startswith("E  ")]
    complaint = (marked or lines[:1] or [bad[0].outcome])[0][:300]
    count = len(runs) - len(bad)
    return f"passed {count} of {len(runs)} times: {complaint}" if count else complaint
