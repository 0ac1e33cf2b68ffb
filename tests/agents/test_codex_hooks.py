"""The lines of sh that Codex's hooks run: one event each, and the bell."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mngr.agents.codex.hooks import hooks
from mngr.model.event import Event
from mngr.process import wait_until
from mngr.sh.program import load
from mngr.store.untrusted import read_event
from mngr.testing.waiting import PATIENCE_S

pytestmark = pytest.mark.accept("K14", "K7")


class Agent:
    """An agent's directory and what its hooks wrote there."""

    def __init__(self, folder: Path, shell: tuple[str, ...]) -> None:
        self.folder, self.shell = folder, shell
        (folder / "codex/sessions").mkdir(parents=True)
        (folder / "codex/hook.sh").write_text(load("agents/codex/hook"))
        self.session = folder / "codex/sessions/s.jsonl"

    def tell(self, word: str, **payload: Any) -> None:
        told = {"session_id": "s", "turn_id": "t1", "transcript_path": str(self.session), **payload}
        done = subprocess.run(
            [*self.shell, str(self.folder / "codex/hook.sh"), word],
            input=json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode(),
            env={
                "MNGR_AGENT_STATE_DIR": str(self.folder),
                "MNGR_HOST_DIR": str(self.folder),
                "PATH": "/usr/bin:/bin",
            },
            capture_output=True,
            check=True,
            timeout=PATIENCE_S,
        )
        assert (done.stdout, done.stderr) == (b"", b"")

    def events(self) -> list[Event]:
        path = self.folder / "events.jsonl"
        lines = path.read_bytes().splitlines() if path.exists() else []
        found = [read_event(line) for line in lines]
        assert None not in found
        return [event for event in found if event]

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events()]


@pytest.fixture(params=["sh", "busybox"])
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> Agent:
    return Agent(tmp_path, ("sh",) if request.param == "sh" else ("busybox", "sh"))


def test_a_turn_with_a_permission(agent: Agent) -> None:
    agent.session.write_text('{"payload":{"type":"token_count"}}\n')
    agent.tell("session", source="startup")
    agent.tell("prompt", prompt='"turn_id":"x"')
    agent.tell("tool", tool_name="Bash")
    agent.tell("permission", tool_name="Bash", tool_input={"command": '"tool_name":"x"'})
    agent.tell("tool", tool_name="Bash")
    agent.tell("tool", tool_name="Bash")
    agent.tell("model", status="completed", error=None)
    agent.tell("stop")
    assert agent.kinds() == ["prompt_submitted", "needs_input", "resumed", "turn_ended"]
    assert agent.events()[0].data == {"turn": "t1"}
    assert agent.events()[1].data == {"reason": "permission", "tool": "Bash"}
    assert (agent.folder / "codex/session").read_text() == "sessions/s.jsonl\n"
    assert (agent.folder / "bell").exists()


def test_an_error_of_the_model_is_an_event_and_ends_the_turn_when_the_session_file_says_so(
    agent: Agent,
) -> None:
    agent.tell("prompt", prompt="go")
    agent.session.write_text('{"payload":{"type":"task_complete","turn_id":"t0"}}\n')
    agent.tell("model", status="failed", error='429 {"error":{"message":"slow\ndown"}}')
    with agent.session.open("a") as file:
        file.write('{"payload":{"type":"task_complete","root_turn_id":"t1","turn_id":"t1"}}\n')
    assert wait_until(lambda: len(agent.events()) == 3, PATIENCE_S)
    assert [(event.kind, event.data) for event in agent.events()[1:]] == [
        ("api_error", {"error": "429 error:message:slowndown"}),
        ("turn_ended", {"reason": "api_error"}),
    ]


def test_an_error_that_is_tried_again_does_not_end_the_turn(agent: Agent) -> None:
    agent.tell("prompt", prompt="go")
    agent.tell("model", status="failed", error="x" * 5000)
    agent.tell("model", status="cancelled", error=None)
    assert agent.kinds() == ["prompt_submitted", "api_error"]
    assert len(agent.events()[1].data["error"]) == 300


def test_an_interruption_ends_the_turn(agent: Agent) -> None:
    agent.tell("prompt", prompt="go")
    agent.tell("interrupt")
    assert agent.events()[-1].data == {"reason": "interrupted"}


def test_a_stop_does_not_wait_for_ever_for_the_last_answer(agent: Agent) -> None:
    agent.tell("stop")
    assert agent.kinds() == ["turn_ended"]


def test_what_is_told_cannot_forge_an_event(agent: Agent) -> None:
    agent.tell("permission", tool_name='x"},"kind":"exited')
    agent.tell("prompt", turn_id="a\nb")
    agent.tell("model", status="failed", error='x"},"kind":"exited"}\n{')
    assert agent.kinds() == ["needs_input", "prompt_submitted", "api_error"]
    assert agent.events()[0].data["tool"] == "unreadable"


def test_times_have_parts_of_a_second(agent: Agent) -> None:
    agent.tell("interrupt")
    assert agent.events()[0].at % 1 != 0


def test_every_hook_is_a_line_of_sh() -> None:
    commands = [
        hook["command"]
        for entries in hooks()["hooks"].values()
        for entry in entries
        for hook in entry["hooks"]
    ]
    assert commands
    assert all(command.startswith('sh "$MNGR_AGENT_STATE_DIR/codex/hook.sh" ') for command in commands)
