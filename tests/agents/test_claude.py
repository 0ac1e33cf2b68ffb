"""The real Claude Code keeps the rules of every agent type, on its terminal and without one."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from tests.agents.offline import claude_env
from tests.support.model import Model

from mngr.agents.claude.headless import ClaudeHeadlessType
from mngr.agents.claude.home import home_of
from mngr.agents.claude.text import readings
from mngr.agents.claude.type import ClaudeType
from mngr.agents.custom import CustomType
from mngr.agents.protocol import AgentType, Transcribed
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentState, WaitingReason
from mngr.store.fold import Folded
from mngr.testing.agents import AgentTypeConformance, Outcome, Running

OUTCOMES = (
    Outcome(Folded(started_at=1005.0), AgentState.RUNNING),
    Outcome(Folded(started_at=100.0), AgentState.UNKNOWN),
    Outcome(Folded(activity="busy", activity_at=1000.0), AgentState.RUNNING),
    Outcome(Folded(activity="end_of_turn", activity_at=1.0), AgentState.WAITING, WaitingReason.END_OF_TURN),
    Outcome(Folded(activity="permission", activity_at=1.0), AgentState.WAITING, WaitingReason.PERMISSION),
    Outcome(Folded(activity="input", activity_at=1.0), AgentState.WAITING, WaitingReason.INPUT),
    Outcome(Folded(activity="unknown", activity_at=1.0), AgentState.UNKNOWN),
)


def said(agent_type: AgentType, agent: Running) -> list[str]:
    """What a person said, by the program's own session file."""
    assert isinstance(agent_type, Transcribed)
    return [turn.text for turn in agent_type.transcript(agent.spec, agent.host) if turn.role == "user"]


def queued(agent: Running) -> list[str]:
    """What reached the program without a screen, by its own session file: it puts every message into its queue."""
    path = agent.host.read(f"{home_of(agent.spec, agent.host)}/session").decode().strip()
    lines = agent.host.read(path).splitlines() if os.path.exists(path) else []
    entries = [msgspec.json.decode(line) for line in lines if b'"queue-operation"' in line]
    return [entry["content"] for entry in entries if entry["operation"] == "enqueue"]


@pytest.mark.slow
@pytest.mark.accept("K14", "K8")
class TestClaude(AgentTypeConformance):
    """Of a text it changes this: tabs become spaces, and blanks at the end of a short one are dropped."""

    outcomes = OUTCOMES

    @pytest.fixture
    def agent_type(self, model: Model, home: Path) -> AgentType:
        self.kind = CustomType("offline", ClaudeType(), (), claude_env(model, home))
        return self.kind

    def argv(self, host: Host) -> Sequence[str]:
        return ()

    def times_taken(self, agent: Running, message: bytes) -> int:
        try:
            wanted = readings(message.decode())
        except UnicodeDecodeError:
            return 0
        return sum(text in wanted for text in said(self.kind, agent))


@pytest.mark.slow
@pytest.mark.accept("K14", "K8")
class TestClaudeHeadless(AgentTypeConformance):
    """Every character arrives; only what is no text at all is refused. What waits for the end of a turn is then taken
    as one prompt, each message a line, so its own queue is the record of what reached it."""

    outcomes = OUTCOMES

    @pytest.fixture
    def agent_type(self, model: Model, home: Path) -> AgentType:
        self.kind = CustomType("offline", ClaudeHeadlessType(), (), claude_env(model, home))
        return self.kind

    def argv(self, host: Host) -> Sequence[str]:
        return ()

    def times_taken(self, agent: Running, message: bytes) -> int:
        try:
            return queued(agent).count(message.decode())
        except UnicodeDecodeError:
            return 0
