"""Screens of the real OpenCode, kept as files, and what is said of them when they are in the way."""

from pathlib import Path

import pytest
from tests.agents.test_codex_screen import STYLE

from mngr.agents.opencode.answer import answer_to
from mngr.agents.shared.unknown_screen import end_of, lines_of

SCREENS = Path(__file__).parent / "screens/opencode"
pytestmark = pytest.mark.accept("K14")


def screen(name: str) -> str:
    return STYLE.sub("", (SCREENS / f"{name}.ansi").read_text())


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("prompt", "Ask anything"),
        ("busy", "esc interrupt"),
        ("permission", "Permission required"),
        ("question", "Which colour?"),
        ("no-model", "Connect a provider"),
    ],
)
def test_what_a_person_has_to_see_is_told_in_its_own_words(name: str, shown: str) -> None:
    said = end_of(screen(name))
    assert shown in said
    assert "\u2503" not in said


def test_the_decisions_on_its_screen_are_those_that_a_number_chooses() -> None:
    (line,) = (line for line in lines_of(screen("permission")) if line.startswith("Allow once"))
    assert line.split("  ")[0] == "Allow once"
    offered = [word.strip() for word in line.split("   ")[:3]]
    replies = [answer_to({"id": "per_1"}, str(number)) for number in (1, 2, 3)]
    assert offered == ["Allow once", "Allow always", "Reject"]
    assert [reply and reply["reply"] for reply in replies] == ["once", "always", "reject"]


def test_the_options_of_a_question_have_the_numbers_that_choose_them() -> None:
    lines = [line for line in lines_of(screen("question")) if line[:3] in ("1. ", "2. ", "3. ")]
    assert [line.split("   ")[0] for line in lines] == ["1. red", "2. blue", "3. Type your own answer"]


def test_an_empty_screen_is_called_that() -> None:
    assert end_of("\n\n  \u2503\n") == "(nothing is on it)"
