"""What a message means as an answer to what OpenCode asks."""

from typing import Any

import pytest

from mngr.agents.opencode.answer import answer_to, what_it_asks

pytestmark = pytest.mark.accept("K14")

PERMISSION: dict[str, Any] = {
    "id": "per_1",
    "permission": "bash",
    "patterns": ["rm *"],
    "metadata": {"command": "rm -r build"},
}
OPTIONS = [{"label": "red"}, {"label": "blue"}]
COLOUR = {"question": "Which?", "options": OPTIONS}
SIZE = {"question": "How large?"}


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("yes", "once"),
        (" OK. ", "once"),
        ("1", "once"),
        ("always", "always"),
        ("no", "reject"),
        ("3", "reject"),
    ],
)
def test_words_and_numbers_decide(text: str, reply: str) -> None:
    assert answer_to(PERMISSION, text) == {"op": "permission", "id": "per_1", "reply": reply}


@pytest.mark.parametrize("text", ["why?", "0", "4", "yes but", "\u0661"])
def test_anything_else_is_no_answer(text: str) -> None:
    assert answer_to(PERMISSION, text) is None


@pytest.mark.parametrize(
    ("text", "answer"), [("2", "blue"), ("violet, please", "violet, please"), ("3", "3"), ("a\nb", "a\nb")]
)
def test_one_question_takes_a_number_or_words(text: str, answer: str) -> None:
    found = answer_to({"id": "que_1", "questions": [COLOUR]}, text)
    assert found == {"op": "question", "id": "que_1", "answers": [[answer]]}


def test_several_questions_take_a_line_each() -> None:
    asked = {"id": "que_1", "questions": [COLOUR, SIZE]}
    found = answer_to(asked, "1\nsmall\n")
    assert found == {"op": "question", "id": "que_1", "answers": [["red"], ["small"]]}
    assert answer_to(asked, "1") is None


def test_what_it_asks_is_told_in_its_own_words() -> None:
    assert "rm -r build" in what_it_asks(PERMISSION)
    assert "rm *" in what_it_asks({**PERMISSION, "metadata": None})
    assert "Which?; How large?" in what_it_asks({"id": "que_1", "questions": [COLOUR, SIZE]})
    assert len(what_it_asks({**PERMISSION, "metadata": {"command": "x" * 9999}})) == 2000
