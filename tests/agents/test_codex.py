"""The real Codex keeps the rules of every agent type."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.agents.offline import codex_args, codex_env
from tests.support.model import Model

from mngr.agents.codex.type import CodexType
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


@pytest.mark.slow
@pytest.mark.accept("K14", "K8")
class TestCodex(AgentTypeConformance):
    """Every character arrives; only what is no text at all is refused."""

    outcomes = OUTCOMES

    @pytest.fixture
    def agent_type(self, model: Model, home: Path) -> AgentType:
        self.kind = CustomType("offline", CodexType(), codex_args(model), codex_env(home))
        return self.kind

    def argv(self, host: Host) -> Sequence[str]:
        return ()

    def times_taken(self, agent: Running, message: bytes) -> int:
        try:
            return said(self.kind, agent).count(message.decode())
        except UnicodeDecodeError:
            return 0
