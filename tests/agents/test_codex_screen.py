"""Screens of the real Codex, kept as files, and what is said of those that are in the way."""

import re
from pathlib import Path

import pytest

from mngr.agents.codex.screen import unknown_screen_text
from mngr.agents.shared.unknown_screen import lines_of

SCREENS = Path(__file__).parent / "screens/codex"
STYLE = re.compile(r"\x1b\[[0-9;:]*m|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)|[\x0e\x0f]")
pytestmark = pytest.mark.accept("K14")


def screen(name: str) -> str:
    return STYLE.sub("", (SCREENS / f"{name}.ansi").read_text())


@pytest.mark.parametrize(
    ("name", "advice", "shown"),
    [
        ("login", "--pass-env OPENAI_API_KEY", "3. Provide your own API key"),
        ("hooks-review", "mngr connect", "3. Continue without trusting (hooks won't run)"),
        ("trust", "mngr connect", "Trust this folder?"),
    ],
)
def test_a_known_dialog_comes_with_advice_and_its_own_words(name: str, advice: str, shown: str) -> None:
    said = unknown_screen_text(screen(name))
    assert advice in said
    assert shown in said


@pytest.mark.parametrize("name", ["prompt", "busy", "permission"])
def test_any_other_screen_is_shown_as_it_is(name: str) -> None:
    assert unknown_screen_text(screen(name)).startswith("its screen shows something unknown: ")


def test_a_drawing_that_moves_is_no_news() -> None:
    moved = screen("login").replace("\u28ff", "\u2801")
    assert moved != screen("login")
    assert lines_of(moved) == lines_of(screen("login"))
    assert not any("\u2800" <= sign <= "\u28ff" for line in lines_of(moved) for sign in line)


def test_what_it_wants_permission_for_is_on_the_screen_by_number() -> None:
    """The decisions that a number chooses are in this order."""
    options = [line for line in lines_of(screen("permission")) if re.search(r"^(\u203a )?\d\. ", line)]
    assert [option.lstrip("\u203a ")[:6] for option in options] == ["1. Yes", "2. Yes", "3. No,"]
