"""Yes, no and numbers mean the same to every coding agent."""

import pytest

from mngr.agents.claude.answer import choose
from mngr.agents.claude.screen import ClaudeScreen, ScreenKind
from mngr.agents.codex.answer import result_for
from mngr.agents.opencode.answer import answer_to
from mngr.agents.shared.answers import answers_to, questions_in

pytestmark = pytest.mark.accept("K14")

CLAUDE = ClaudeScreen(
    ScreenKind.QUESTION, "", options={1: "Yes", 2: "Yes, always", 3: "No, tell it what to do"}
)
COMMAND = {"id": 0, "method": "item/commandExecution/requestApproval", "params": {}}
PERMISSION = {"id": "per_1", "permission": "bash"}


@pytest.mark.parametrize("text", ["y", "yes", " OK. ", "Allow!", "approve", "1", "1."])
def test_words_that_allow_are_the_same(text: str) -> None:
    assert choose(CLAUDE, text) == 1
    assert result_for(COMMAND, text) == {"decision": "accept"}
    assert (answer_to(PERMISSION, text) or {})["reply"] == "once"


@pytest.mark.parametrize("text", ["n", "No.", "deny", "reject"])
def test_words_that_refuse_are_the_same(text: str) -> None:
    assert choose(CLAUDE, text) == 3
    assert result_for(COMMAND, text) == {"decision": "cancel"}
    assert (answer_to(PERMISSION, text) or {})["reply"] == "reject"


@pytest.mark.parametrize("text", ["", "yes but", "0", "-1", "4", "\u0661", "\u00b2", "1 2", "9" * 5000])
def test_what_is_neither_is_no_answer_to_any(text: str) -> None:
    assert choose(CLAUDE, text) == 0
    assert result_for(COMMAND, text) is None
    assert answer_to(PERMISSION, text) is None


@pytest.mark.parametrize("asked", [{"questions": None}, {"questions": "x"}, {"questions": [1, None]}, {}])
def test_questions_that_are_none_are_left_out(asked: dict[str, object]) -> None:
    assert questions_in(asked) == []


def test_options_that_are_none_are_left_out() -> None:
    assert answers_to([{"options": [7, {"label": "red"}]}], "1") == ["red"]
    assert answers_to([{"options": 7}], "1") == ["1"]
