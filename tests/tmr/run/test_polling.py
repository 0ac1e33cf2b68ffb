"""What a look at the agents reads off a screen."""

import re
from pathlib import Path

import pytest

from mngr_tmr.run.polling import question_on

_SCREENS = Path(__file__).parents[2] / "agents" / "screens"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def screen(name: str) -> str:
    """A real screen, as `capture` gives it."""
    return _COLOURS.sub("", (_SCREENS / name).read_text())


@pytest.mark.accept("U2")
def test_the_question_of_an_agent_is_read_off_its_screen_in_one_line() -> None:
    wanted = "Bash command echo made >made.txt makes a file Do you want to proceed?"
    assert question_on(screen("claude/permission-bash.ansi")) == wanted
    assert question_on(screen("claude/permission-write.ansi")).endswith("Do you want to create PATH?")
    assert question_on("the prompt\n\u25cf May I?\n> ") == "May I?"
    assert question_on("a\n\n  Name it:\n") == "a Name it:"
    assert question_on("") == ""
    assert "\x1b" not in question_on("\x1b[2J\x1b[31mGo on?")
    assert len(question_on("x" * 5000 + "?")) <= 300
