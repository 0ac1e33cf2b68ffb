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

# From public issues, by what their maintainers found to be the cause; the rules were extended with them.
ADDED: tuple[tuple[CauseKind, str, str], ...] = (
    ("dependency or environment", "test", "ImportPathMismatchError: ('tests.conftest', '/a/conftest.py')"),
    (
        "dependency or environment",
        "test",
        "Host system is missing dependencies!\n  Missing libraries are: libnss3.so",
    ),
    ("dependency or environment", "test", "permission denied while trying to connect to the docker API"),
    ("dependency or environment", "launch", "npm ERR! Error: EACCES: permission denied, access '/opt/x'"),
    ("dependency or environment", "launch", "error: invalid command 'bdist_wheel'"),
    ("infrastructure", "test", "Storage I/O error: 12: Cannot allocate memory"),
    ("infrastructure", "test", "Process completed with exit code 137"),
    ("infrastructure", "test", "The runner has received a shutdown signal"),
    (
        "infrastructure",
        "test",
        "Cannot connect to the Docker daemon at unix:///x.sock. Is the docker daemon running?",
    ),
    ("infrastructure", "test", "Error: getaddrinfo EAI_AGAIN mysql.example.com"),
    (
        "infrastructure",
        "test",
        "ERROR 2003 (HY000): Can't connect to MySQL server on 'm' (111 \"Connection refused\")",
    ),
    ("infrastructure", "test", "pods never started running timed out waiting for the condition"),
    ("rate limit", "watch", "You exceeded your current quota, please check your plan. RESOURCE_EXHAUSTED"),
    ("rate limit", "watch", "You've hit your limit · resets 7pm"),
    ("rate limit", "watch", "You have reached your specified API usage limits."),
    ("rate limit", "watch", "Your request rate is too high. Reduce the frequency of requests."),
    ("rate limit", "watch", "429 Too many tokens, please wait before trying again."),
    ("code", "test", "AttributeError: 'NoneType' object has no attribute 'get'"),
    ("code", "test", "java.util.NoSuchElementException: Collection is empty."),
    ("code", "test", '"[0xc001aa13f8 0xc000cb4bd0]" should have 4 item(s), but has 5'),
)


@pytest.mark.parametrize(("kind", "stage", "text"), KNOWN + ADDED)
def test_a_cause_that_the_rules_were_written_for_is_found_with_evidence(
    kind: CauseKind, stage: str, text: str
) -> None:
    found = likely_cause(stage, [text])
    assert found.kind == kind, found
    assert found.evidence
    assert found.next_step


def test_timeouts_of_many_at_once_speak_for_the_machines_and_those_over_hours_do_not() -> None:
    text = ["E   Failed: Timeout >30.0s"] * 5
    assert likely_cause("test", text, times=[1, 2, 3, 4, 5]).kind == "infrastructure"
    assert likely_cause("test", text, times=[1, 900, 3000, 5000, 9000]).kind == "code"


def test_failures_of_steps_on_one_host_name_it() -> None:
    found = likely_cause("verify", ["the copy is not there"] * 3, hosts=["m1.ssh"] * 3)
    assert (found.kind, found.evidence) == ("infrastructure", "all on the host m1.ssh")
