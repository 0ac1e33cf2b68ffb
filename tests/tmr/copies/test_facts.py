"""What the plugin wrote is read with suspicion: tests ran in the same process."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr_tmr.copies.copy import PytestResult
from mngr_tmr.copies.facts import Broken, CollectedTest, Origin, PytestFacts, PytestPhase, read_facts
from mngr_tmr.verify.verdicts import proven_run

LINES = (
    {"kind": "test", "node_id": "a.py::test", "file": "a.py", "line": 3, "deselected": False},
    {"kind": "ran", "node_id": "a.py::test", "when": "call", "outcome": "passed", "duration_s": 0.5},
    {"kind": "broken", "node_id": "b.py", "text": "oh"},
    {"kind": "origin", "what": "import a", "path": "/x/a.py", "place": "outside"},
    {"kind": "end", "code": 0},
)


def test_facts_are_sorted_by_what_they_are() -> None:
    facts = read_facts("".join(json.dumps(line) + "\n" for line in LINES).encode())
    assert facts == PytestFacts(
        (CollectedTest("a.py::test", "a.py", 3),),
        (PytestPhase("a.py::test", "call", "passed", 0.5),),
        (Broken("b.py", "oh"),),
        (Origin("import a", "/x/a.py", "outside"),),
        has_ended=True,
    )
    assert facts.wrong_code == "import a comes from /x/a.py"


@pytest.mark.accept("Q5", "Q7")
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=40).filter(lambda line: b"\n" not in line and line.strip()),
            st.sampled_from(LINES).map(lambda line: json.dumps(line).encode()),
            st.dictionaries(st.sampled_from(["kind", "node_id", "path"]), st.text(max_size=5)).map(
                lambda line: json.dumps(line).encode()
            ),
        )
    )
)
def test_any_bytes_are_facts_or_counted(lines: list[bytes]) -> None:
    facts = read_facts(b"\n".join(lines))
    good = sum(line in [json.dumps(one).encode() for one in LINES] for line in lines)
    assert facts.unreadable <= len(lines) - good


UNKNOWN = Origin("tool", "/usr/bin/tool", "unknown", used=True, node_id="a.py::test")
PASSED = tuple(PytestPhase("a.py::test", when, "passed") for when in ("setup", "call", "teardown"))


@pytest.mark.accept("M17")
@pytest.mark.parametrize(
    ("others", "is_told"),
    [
        ((), False),
        ((Origin("import app", "/copy/app.py", "inside", used=True),), True),
        ((Origin("import app", "/copy/app.py", "inside"),), False),
        ((Origin("./app", "/copy/app", "inside", used=True, node_id="a.py::test"),), True),
        ((Origin("./app", "/copy/app", "inside", used=True, node_id="a.py::other"),), False),
    ],
)
def test_a_pass_of_unknown_programs_needs_a_trace_of_the_copys_code(
    others: tuple[Origin, ...], is_told: bool
) -> None:
    """One that was seen to run, in this test or in no test that is known; a gate takes nothing less."""
    facts = PytestFacts(phases=PASSED, origins=(UNKNOWN, *others), has_ended=True)
    assert bool(facts.cannot_tell("a.py::test")) is not is_told
    assert facts.cannot_tell("a.py::other") == ""
    run = proven_run(PytestResult(0, "", facts), "a.py::test")
    assert run.outcome == ("passed" if is_told else "error")
    assert is_told or run.message.startswith("cannot tell which code was tested: the test started tool (")
