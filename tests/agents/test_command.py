"""A plain program as an agent."""

import os
from collections.abc import Mapping, Sequence

import pytest

from mngr.agents.command import CommandType
from mngr.errors import RefusedError, UnreachableError, UsageError
from mngr.hosts.local import LocalHost
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentState
from mngr.model.message import Delivery, Usage
from mngr.process import Completed, wait_until
from mngr.store.fold import Folded
from mngr.testing.agents import AgentTypeConformance, Outcome, Running, new_spec, running
from mngr.testing.waiting import PATIENCE_S
from mngr.tmux.pane import AgentPane, look


@pytest.mark.accept("K14", "K8")
class TestCommand(AgentTypeConformance):
    outcomes = (
        Outcome(Folded(), AgentState.RUNNING),
        Outcome(Folded(activity="end_of_turn", activity_at=1000.0), AgentState.RUNNING),
    )

    @pytest.fixture
    def agent_type(self) -> CommandType:
        return CommandType()

    def argv(self, host: Host) -> Sequence[str]:
        return ("sh", "-c", "exec cat >>taken")

    def times_taken(self, agent: Running, message: bytes) -> int:
        path = f"{agent.spec.work_dir}/taken"
        return agent.host.read(path).count(message + b"\n") if os.path.exists(path) else 0


def test_no_command_is_an_error_that_shows_one(host: LocalHost) -> None:
    spec = new_spec(CommandType(), host, ())
    with pytest.raises(UsageError) as caught:
        CommandType().command(spec, host)
    assert "-- sleep 60" in caught.value.hint


@pytest.mark.accept("K8")
def test_a_program_that_ends_as_it_is_sent_something_gives_no_false_promise(host: LocalHost) -> None:
    with running(CommandType(), host, ("sh", "-c", "read -r line; kill -9 $$")) as agent:
        receipt = CommandType().send(agent.pane, b"go")
    assert receipt.status in (Delivery.UNKNOWN, Delivery.DELIVERED)
    assert receipt.status is Delivery.DELIVERED or "ended" in receipt.why


class VanishingHost(LocalHost):
    """A machine that is gone once something is typed there, with the bytes on their way."""

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Completed:
        done = super().run(argv, stdin=stdin, timeout_s=timeout_s, env=env, cwd=cwd)
        if argv[-1] == "mngr-paste":
            raise UnreachableError("connection reset")
        return done


@pytest.mark.accept("K8")
def test_a_host_lost_meanwhile_means_unknown(host: LocalHost) -> None:
    with running(CommandType(), host, ("cat",)) as agent:
        lost = AgentPane(VanishingHost(host.dir), agent.spec.id, agent.spec.session)
        receipt = CommandType().send(lost, b"hello")
    assert receipt.status is Delivery.UNKNOWN
    assert "connection reset" in receipt.why


@pytest.mark.accept("K8")
def test_a_refusal_names_the_byte_and_its_offset(host: LocalHost) -> None:
    with running(CommandType(), host, ("sh", "-c", "stty -icanon; exec cat")) as agent:
        assert wait_until(lambda: not look(agent.pane).mode.canonical, PATIENCE_S)
        with pytest.raises(RefusedError, match="0x03 at offset 2"):
            CommandType().send(agent.pane, b"ab\x03")


def test_a_plain_program_costs_nothing(host: LocalHost) -> None:
    assert CommandType().usage(new_spec(CommandType(), host, ("true",)), host) == Usage()
