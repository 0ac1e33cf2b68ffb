"""Screens of the real Claude Code, kept as files, and what is understood of each."""

from pathlib import Path

import pytest

from mngr.agents.claude.answer import choose
from mngr.agents.claude.screen import ClaudeScreen, ScreenKind, read_screen

SCREENS = Path(__file__).parent / "screens/claude"
pytestmark = pytest.mark.accept("K14")


def screen(name: str) -> ClaudeScreen:
    return read_screen((SCREENS / f"{name}.ansi").read_text())


@pytest.mark.parametrize("name", ["prompt", "denied", "busy-queue"])
def test_a_prompt_can_be_typed_into(name: str) -> None:
    assert screen(name).is_ready


def test_a_hint_in_the_prompt_is_nobodys_text_and_a_draft_is() -> None:
    assert "Press up to edit queued messages" in screen("busy-queue").text
    assert screen("busy-queue").draft == ""
    assert (screen("draft").kind, screen("draft").draft) == (ScreenKind.PROMPT, "a half-written thought")


@pytest.mark.parametrize(
    ("name", "last", "free"),
    [("permission-bash", "No", 0), ("permission-write", "No", 0), ("question", "Chat about this", 3)],
)
def test_a_question_has_its_options(name: str, last: str, free: int) -> None:
    found = screen(name)
    assert (found.kind, list(found.options.values())[-1], found.free_text) == (
        ScreenKind.QUESTION,
        last,
        free,
    )


@pytest.mark.parametrize("name", ["login", "model-dialog"])
def test_a_dialog_of_the_program_itself_is_no_prompt(name: str) -> None:
    assert not screen(name).is_ready


def test_what_is_not_known_is_unknown_and_shown() -> None:
    found = screen("shell-mode")
    assert found.kind is ScreenKind.UNKNOWN
    assert "! for shell mode" in found.last_lines()


@pytest.mark.parametrize("text", ["", "\n\n", "a program's own output\n1. one\n2. two\n", "\u276f plain\n"])
def test_other_screens_are_unknown(text: str) -> None:
    assert read_screen(text).kind is ScreenKind.UNKNOWN


def test_the_sign_of_the_prompt_in_a_conversation_is_not_the_prompt() -> None:
    assert read_screen("\u276f\u00a0what somebody pasted\n\n  and more\n").kind is ScreenKind.UNKNOWN


@pytest.mark.parametrize(
    ("text", "number"),
    [("yes", 1), ("Y", 1), ("no", 3), ("No.", 3), ("2", 2), ("4", 0), ("why?", 0), ("1.5", 0)],
)
def test_words_and_numbers_choose_an_option(text: str, number: int) -> None:
    assert choose(screen("permission-bash"), text) == number


def test_the_words_of_an_option_choose_it() -> None:
    assert choose(screen("question"), "Blue") == 2
