"""What a message means as an answer to what Codex asks."""

from typing import Any

import pytest

from mngr.agents.codex.answer import result_for

pytestmark = pytest.mark.accept("K14")

AMEND = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["ls"]}}
COMMAND = "item/commandExecution/requestApproval"
FILES = "item/fileChange/requestApproval"
MORE = "item/permissions/requestApproval"
ELICIT = "mcpServer/elicitation/request"
ASK = "item/tool/requestUserInput"
COLOUR = {"id": "c", "question": "Which?", "options": [{"label": "red"}, {"label": "blue"}]}
SIZE = {"id": "s", "question": "How large?"}


def request(method: str, **params: Any) -> dict[str, Any]:
    return {"id": 0, "method": method, "params": params}


@pytest.mark.parametrize(
    ("method", "text", "decision"),
    [
        (COMMAND, "yes", "accept"),
        (COMMAND, " OK. ", "accept"),
        (COMMAND, "no", "cancel"),
        (COMMAND, "1", "accept"),
        (COMMAND, "2", AMEND),
        (COMMAND, "3", "cancel"),
        (FILES, "2", "acceptForSession"),
        (FILES, "n", "cancel"),
    ],
)
def test_words_and_numbers_decide(method: str, text: str, decision: Any) -> None:
    asked = request(method, availableDecisions=["accept", AMEND, "cancel"])
    assert result_for(asked, text) == {"decision": decision}


@pytest.mark.parametrize("method", [COMMAND, FILES, MORE, ELICIT, "something/new"])
@pytest.mark.parametrize("text", ["why?", "0", "4", "99999999999999999999", "yes but", "\u0662"])
def test_anything_else_is_no_answer(method: str, text: str) -> None:
    assert result_for(request(method), text) is None


def test_further_permissions_are_granted_as_they_were_asked_for() -> None:
    wanted = {"network": {"enabled": True}}
    assert result_for(request(MORE, permissions=wanted), "yes") == {"permissions": wanted}
    assert result_for(request(MORE, permissions=wanted), "no") == {"permissions": {}}
    assert result_for(request(ELICIT), "no") == {"action": "decline"}


@pytest.mark.parametrize(
    ("text", "answers"),
    [("2", ["blue"]), ("violet, please", ["violet, please"]), ("3", ["3"]), ("two\nlines", ["two\nlines"])],
)
def test_one_question_takes_a_number_or_words(text: str, answers: list[str]) -> None:
    assert result_for(request(ASK, questions=[COLOUR]), text) == {"answers": {"c": {"answers": answers}}}


def test_several_questions_take_a_line_each() -> None:
    asked = request(ASK, questions=[COLOUR, SIZE])
    assert result_for(asked, "1\nsmall\n") == {
        "answers": {"c": {"answers": ["red"]}, "s": {"answers": ["small"]}}
    }
    assert result_for(asked, "1") is None
