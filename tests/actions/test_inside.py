"""Commands beside an agent's program have its environment, and nothing of ours."""

from pathlib import Path

import pytest
from tests.support.world import World

from mngr.actions.exec import exec_in


@pytest.mark.accept("Q6", "Q9")
def test_nothing_of_our_environment_reaches_a_command_or_a_setup(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUSH_TOKEN", "canary")
    world.create("foo", setup="env >seen.txt", env={"GIVEN": "yes"})
    heard: list[bytes] = []
    exec_in("foo", ("env",), on_output=lambda _, data: heard.append(data), manager=world.manager_here)
    (seen,) = [(Path(path) / "seen.txt").read_text() for path in world.worktrees()]
    for text in (seen, b"".join(heard).decode()):
        assert "GIVEN=yes" in text
        assert "MNGR_AGENT_NAME=foo" in text
        assert "canary" not in text
