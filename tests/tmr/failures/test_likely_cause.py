"""The likely cause of failures that are alike."""

import pytest

from mngr_tmr.failures.likely_cause import CauseKind, likely_cause

# The ten causes for which the rules were written.
KNOWN: tuple[tuple[CauseKind, str, str], ...] = (
    ("code", "test", "src/shelf.py:12: in take\nE   AssertionError: assert 3 == 2"),
    ("code", "test", "E   TypeError: add() missing 1 required positional argument: 'amount'"),
    (
        "rate limit",
        "watch",
        "API Error: 429 {'type': 'rate_limit_error'}: this request would exceed your rate limit",
    ),
    ("rate limit", "watch", "API Error: 529 overloaded_error: Overloaded"),
    ("dependency or environment", "test", "E   ModuleNotFoundError: No module named 'requests'"),
    ("dependency or environment", "launch", "setup ended with exit code 127: sh: 1: uv: command not found"),
    ("dependency or environment", "blocked: environment", "PANTRY_SERVER is not set"),
    ("infrastructure", "pull", "OSError: [Errno 28] No space left on device"),
    ("infrastructure", "launch", "ssh: connect to host build-3 port 22: Connection timed out"),
    ("infrastructure", "watch", "the agent disappeared"),
)


@pytest.mark.accept("O9")
@pytest.mark.parametrize(("kind", "stage", "text"), KNOWN)
def test_a_cause_that_the_rules_were_written_for_is_found_with_evidence(
    kind: CauseKind, stage: str, text: str
) -> None:
    found = likely_cause(stage, [text])
    assert found.kind == kind, found
    assert found.evidence
    assert found.next_step


@pytest.mark.accept("O9")
def test_timeouts_of_many_at_once_speak_for_the_machines_and_those_over_hours_do_not() -> None:
    text = ["E   Failed: Timeout >30.0s"] * 5
    assert likely_cause("test", text, times=[1, 2, 3, 4, 5]).kind == "infrastructure"
    assert likely_cause("test", text, times=[1, 900, 3000, 5000, 9000]).kind == "code"


@pytest.mark.accept("O9")
def test_failures_of_steps_on_one_host_name_it() -> None:
    found = likely_cause("verify", ["the copy is not there"] * 3, hosts=["m1.ssh"] * 3)
    assert (found.kind, found.evidence) == ("infrastructure", "all on the host m1.ssh")
