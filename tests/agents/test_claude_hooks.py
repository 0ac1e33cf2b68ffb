"""The lines of sh that Claude Code's hooks run: one event each, and the bell."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mngr.agents.claude.hooks import settings
from mngr.agents.claude.text import sum_of
from mngr.model.event import Event
from mngr.sh.program import load
from mngr.store.untrusted import read_event
from mngr.testing.waiting import PATIENCE_S

pytestmark = pytest.mark.accept("K14", "K7")


class Agent:
    """An agent's directory and what its hooks wrote there."""

    def __init__(self, folder: Path, shell: tuple[str, ...]) -> None:
        self.folder, self.shell = folder, shell
        (folder / "claude/projects/copied").mkdir(parents=True)
        (folder / "claude/hook.sh").write_text(load("agents/claude/hook"))
        self.session = folder / "claude/projects/s.jsonl"

    def tell(self, word: str, **payload: Any) -> None:
        told = {"session_id": "s", "transcript_path": str(self.session), "cwd": "/", **payload}
        done = subprocess.run(
            [*self.shell, str(self.folder / "claude/hook.sh"), word],
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


@pytest.mark.parametrize(
    "text", ["hello", 'say "x" \\ and\nmore \u001b', '"prompt":"no"', "x" * 100_000, "ü🦊\t\n" * 9000]
)
def test_a_prompt_is_named_by_its_checksum(agent: Agent, text: str) -> None:
    agent.tell("prompt", prompt_id="1", prompt=text, later={"prompt": "another"})
    (event,) = agent.events()
    assert (event.kind, event.data) == ("prompt_submitted", {"cksum": sum_of(text)})
    assert (agent.folder / "bell").exists()


def test_a_turn_with_a_permission(agent: Agent) -> None:
    agent.tell("session", source="startup")
    agent.tell("prompt", prompt="go")
    agent.tell("tool", tool_name="Read")
    agent.tell("permission", tool_name="Bash", tool_input={"command": '"tool_name":"x"'})
    agent.tell("tool", tool_name="Bash")
    agent.tell("tool", tool_name="Bash")
    agent.session.write_text('{"type":"assistant","stop_reason":"end_turn"}\n')
    agent.tell("stop")
    assert agent.kinds() == ["turn_ended", "prompt_submitted", "needs_input", "resumed", "turn_ended"]
    assert agent.events()[2].data == {"reason": "permission", "tool": "Bash"}
    assert agent.events()[0].data == {"reason": "session_startup"}


def test_a_question_needs_input(agent: Agent) -> None:
    agent.tell("permission", tool_name="AskUserQuestion")
    assert agent.events()[0].data == {"reason": "input", "tool": "AskUserQuestion"}


def test_an_error_of_the_model_is_an_event_and_ends_the_turn(agent: Agent) -> None:
    agent.tell("prompt", prompt="go")
    agent.tell("failure", error="rate_limit", error_details='429 {"x"}')
    assert [(event.kind, event.data) for event in agent.events()[1:]] == [
        ("api_error", {"error": "rate_limit"}),
        ("turn_ended", {"reason": "api_error"}),
    ]


@pytest.mark.accept("M19")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Credit balance is too low", "Credit balance is too low"),
        ('Not "logged in" · \\ run\n/login', 'Not "logged in" · \\ run\n/login'),
        ("é" * 900 + "x" * 600, "x" * 500),
    ],
)
def test_the_words_of_an_error_are_in_its_event(agent: Agent, text: str, told: str) -> None:
    details = '{"last_assistant_message":"no"}'
    agent.tell("failure", error="billing_error", error_details=details, last_assistant_message=text)
    assert agent.events()[0].data == {"error": "billing_error", "message": told}


def test_an_interruption_is_found_in_the_session_file(agent: Agent) -> None:
    agent.session.write_text('{"type":"user","message":"[Request interrupted by user]"}\n')
    agent.tell("prompt", prompt="go on")
    agent.tell("status")
    assert agent.kinds() == ["prompt_submitted"]
    with agent.session.open("a") as file:
        file.write(
            '{"type":"user","message":"go on"}\n{"type":"user","message":"[Request interrupted by user]"}\n'
        )
    agent.tell("status")
    agent.tell("status")
    assert agent.kinds() == ["prompt_submitted", "turn_ended"]
    assert agent.events()[1].data == {"reason": "interrupted"}


@pytest.mark.parametrize(
    ("told", "kinds"),
    [
        ("idle_prompt", ["prompt_submitted", "turn_ended"]),
        ("permission_prompt", ["prompt_submitted", "needs_input"]),
        ("elicitation_dialog", ["prompt_submitted", "needs_input"]),
        ("something_new", ["prompt_submitted"]),
    ],
)
def test_notices(agent: Agent, told: str, kinds: list[str]) -> None:
    agent.tell("prompt", prompt="go")
    agent.tell("notice", message="m", notification_type=told)
    assert agent.kinds() == kinds


def test_an_idle_notice_adds_nothing_after_the_end_of_a_turn(agent: Agent) -> None:
    agent.tell("stop")
    agent.tell("notice", notification_type="idle_prompt")
    assert agent.kinds() == ["turn_ended"]


def test_a_copied_conversation_is_found_where_it_is(agent: Agent) -> None:
    copy = agent.folder / "claude/projects/copied/c.jsonl"
    copy.write_text("{}\n")
    agent.tell(
        "session", transcript_path=f"{agent.folder}/claude/projects/elsewhere/c.jsonl", source="resume"
    )
    assert (agent.folder / "claude/session").read_text() == f"{copy}\n"


def test_what_is_told_cannot_forge_an_event(agent: Agent) -> None:
    agent.tell("permission", tool_name='x"},"kind":"exited')
    agent.tell("end", reason="a\nb")
    assert agent.kinds() == ["needs_input", "session_ended"]
    assert agent.events()[0].data["tool"] == "unreadable"


def test_times_have_parts_of_a_second(agent: Agent) -> None:
    agent.tell("stop")
    assert agent.events()[0].at % 1 != 0


def test_every_hook_is_a_line_of_sh() -> None:
    commands = [
        hook["command"]
        for entries in settings()["hooks"].values()
        for entry in entries
        for hook in entry["hooks"]
    ]
    assert commands
    assert all(command.startswith('sh "$MNGR_AGENT_STATE_DIR/claude/hook.sh" ') for command in commands)
