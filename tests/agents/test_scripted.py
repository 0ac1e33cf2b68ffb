"""The stand-in for a coding agent: messages, evidence, conversation."""

import hashlib
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from mngr.agents.scripted.type import ScriptedType
from mngr.errors import UsageError
from mngr.hosts.local import LocalHost
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentState, WaitingReason
from mngr.model.event import Event
from mngr.model.message import Delivery, Receipt, Usage
from mngr.process import wait_until
from mngr.store.fold import Folded
from mngr.store.paths import HostPaths
from mngr.store.probe import Evidence, probe_argv, read_probe
from mngr.store.untrusted import read_event
from mngr.testing.agents import (
    AgentTypeConformance,
    Outcome,
    Running,
    end,
    kill,
    new_spec,
    running,
    start,
)
from mngr.testing.waiting import PATIENCE_S
from mngr.tmux.pane import AgentPane, capture, look
from mngr.tmux.server import tmux

TYPE = ScriptedType()


def events(agent: Running) -> list[Event]:
    lines = agent.host.read(agent.pane.agent.events).split(b"\n")
    return [event for event in map(read_event, lines) if event]


def kinds(agent: Running) -> list[str]:
    return [event.kind for event in events(agent)]


def taken(agent: Running) -> list[str]:
    return [event.data["sha256"] for event in events(agent) if event.kind == "prompt_submitted"]


def digest(message: bytes) -> str:
    return hashlib.sha256(message).hexdigest()


def evidence(agent: Running) -> Evidence:
    paths = HostPaths(agent.host.dir)
    found = read_probe(agent.host.run(probe_argv(paths, agent.spec.id)).stdout)
    return found.agents[0]


@contextmanager
def playing(host: Host, *steps: dict[str, Any]) -> Iterator[Running]:
    with running(TYPE, host, (playbook(host, *steps),)) as agent:
        yield agent


def playbook(host: Host, *steps: dict[str, Any]) -> str:
    path = f"{host.dir}/{digest(repr(steps).encode())[:8]}.json"
    host.write(path, json.dumps(steps).encode())
    return path


def wait_kind(agent: Running, kind: str) -> None:
    assert wait_until(lambda: kind in kinds(agent), PATIENCE_S), capture(agent.pane)


@pytest.mark.accept("K14", "K8")
class TestScripted(AgentTypeConformance):
    outcomes = (
        Outcome(Folded(), AgentState.RUNNING),
        Outcome(Folded(activity="busy", activity_at=1000.0), AgentState.RUNNING),
        Outcome(
            Folded(activity="end_of_turn", activity_at=1.0), AgentState.WAITING, WaitingReason.END_OF_TURN
        ),
        Outcome(Folded(activity="permission", activity_at=1.0), AgentState.WAITING, WaitingReason.PERMISSION),
        Outcome(Folded(activity="input", activity_at=1.0), AgentState.WAITING, WaitingReason.INPUT),
    )

    @pytest.fixture
    def agent_type(self) -> ScriptedType:
        return TYPE

    def argv(self, host: Host) -> Sequence[str]:
        return ()

    def times_taken(self, agent: Running, message: bytes) -> int:
        return taken(agent).count(digest(message))


@pytest.mark.accept("K8")
def test_a_message_sent_as_soon_as_it_is_created_is_not_lost(host: LocalHost) -> None:
    for _ in range(3):
        with running(TYPE, host, ()) as agent:
            assert TYPE.send(agent.pane, b"at once\x03").status is Delivery.DELIVERED
            assert taken(agent) == [digest(b"at once\x03")]


@pytest.mark.accept("K8")
def test_a_busy_agent_queues_and_takes_it_at_its_next_pause(host: LocalHost) -> None:
    steps = ({"run": "until [ -e go ]; do sleep 0.05; done"}, {"end_turn": True}, {"say": "got {message}"})
    with playing(host, *steps) as agent:
        receipt = TYPE.send(agent.pane, b"x" * 65536)
        assert (receipt.status, "next pause" in receipt.why) == (Delivery.QUEUED, True)
        assert taken(agent) == []
        host.write(f"{agent.spec.work_dir}/go", b"")
        assert wait_until(lambda: taken(agent) == [digest(b"x" * 65536)], PATIENCE_S)


@pytest.mark.accept("K8")
def test_a_hanging_agent_has_the_message_in_its_terminal(host: LocalHost) -> None:
    with playing(host, {"say": "up"}, {"hang": True}) as agent:
        receipt = TYPE.send(agent.pane, b"hello?")
        assert receipt.status is Delivery.QUEUED
        assert "not read it yet" in receipt.why


@pytest.mark.accept("K8")
def test_a_program_that_dies_on_a_message_blocks_it(host: LocalHost) -> None:
    with playing(host, {"run": "until [ -e go ]; do sleep 0.02; done; kill -9 $PPID"}) as agent:
        killer = threading.Timer(0.5, host.write, (f"{agent.spec.work_dir}/go", b""))
        killer.start()
        statuses = {TYPE.send(agent.pane, b"hello?").status}
        killer.join()
        assert wait_until(lambda: not look(agent.pane).alive, PATIENCE_S)
        statuses.add(TYPE.send(agent.pane, b"hello?").status)
        assert statuses <= {Delivery.QUEUED, Delivery.BLOCKED}
        assert taken(agent) == []


@pytest.mark.accept("K8")
def test_concurrent_senders_are_each_taken_once(host: LocalHost) -> None:
    messages = [f"message {number} ".encode() * 300 for number in range(6)]
    with running(TYPE, host, ()) as agent:
        receipts: list[Delivery] = []
        senders = [
            threading.Thread(target=lambda m=message: receipts.append(TYPE.send(agent.pane, m).status))
            for message in messages
        ]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        assert set(receipts) <= {Delivery.DELIVERED, Delivery.QUEUED}
        assert wait_until(lambda: len(taken(agent)) == 6, PATIENCE_S)
        assert sorted(taken(agent)) == sorted(map(digest, messages))


@pytest.mark.accept("K8")
def test_copy_mode_does_not_keep_a_message_from_being_taken(host: LocalHost) -> None:
    with running(TYPE, host, ()) as agent:
        wait_kind(agent, "turn_ended")
        socket = HostPaths(host.dir).socket
        host.run(("tmux", "-S", socket, "copy-mode", "-t", agent.pane.target)).check("copy mode")
        assert TYPE.send(agent.pane, b"hello\x03\n").status is Delivery.DELIVERED
        assert taken(agent) == [digest(b"hello\x03\n")]


@pytest.mark.accept("K8")
def test_what_a_person_types_is_a_message_too(host: LocalHost) -> None:
    with running(TYPE, host, ()) as agent:
        wait_kind(agent, "turn_ended")
        socket = HostPaths(host.dir).socket
        host.run(
            (
                "tmux",
                "-S",
                socket,
                "send-keys",
                "-t",
                agent.pane.target,
                "helx",
                "BSpace",
                "Left",
                "lo",
                "Enter",
            )
        )
        assert wait_until(lambda: taken(agent) == [digest(b"hello")], PATIENCE_S)


@pytest.mark.accept("K7")
def test_its_events_are_its_state(host: LocalHost) -> None:
    steps = ({"permission": "may I?"}, {"ask": "which one?"}, {"end_turn": True}, {"hang": True})
    reasons = [WaitingReason.PERMISSION, WaitingReason.INPUT, WaitingReason.END_OF_TURN]
    with playing(host, *steps) as agent:
        for reason in reasons:
            assert wait_until(lambda: TYPE.phase(evidence(agent), 0).waiting_reason, PATIENCE_S) == reason
            assert TYPE.send(agent.pane, b"yes").status is Delivery.DELIVERED
        assert TYPE.phase(evidence(agent), 0).state is AgentState.RUNNING


@pytest.mark.accept("K5")
def test_a_restart_goes_on_after_the_last_finished_step(host: LocalHost) -> None:
    steps = (
        {"repeat": 3, "steps": [{"edit": "log", "append": "turn\n"}, {"ask": "more?"}]},
        {"edit": "log", "append": "over\n"},
    )
    with playing(host, *steps) as agent:
        TYPE.send(agent.pane, b"one")
        assert wait_until(lambda: kinds(agent).count("needs_input") == 2, PATIENCE_S)
        kill(agent)
        end(host, agent.spec)
        host.write(agent.spec.argv[0], b"gone from this machine")
        start(TYPE, host, agent.spec, resume=True)
        TYPE.send(agent.pane, b"two")
        assert wait_until(lambda: kinds(agent).count("needs_input") == 4, PATIENCE_S)
        TYPE.send(agent.pane, b"three")
        wait_kind(agent, "turn_ended")
        assert host.read(f"{agent.spec.work_dir}/log") == b"turn\nturn\nturn\nover\n"
        said = [turn.text for turn in TYPE.transcript(agent.spec, host) if turn.role == "user"]
        assert said == ["one", "two", "three"]


@pytest.mark.accept("K1")
def test_a_clone_goes_on_where_the_original_was_without_its_playbook_file(host: LocalHost) -> None:
    with playing(host, {"ask": "first?"}, {"ask": "second?"}) as agent:
        TYPE.send(agent.pane, b"one")
        assert wait_until(lambda: kinds(agent).count("needs_input") == 2, PATIENCE_S)
        host.run(("rm", agent.spec.argv[0])).check("removing the playbook")
        clone = new_spec(TYPE, host, agent.spec.argv)
        TYPE.copy_conversation(agent.spec, clone, host)
        start(TYPE, host, clone)
        try:
            pane = AgentPane(host, clone.id, clone.session)
            assert wait_until(lambda: "second?" in capture(pane), PATIENCE_S)
            assert "first?" not in capture(pane)
        finally:
            end(host, clone)


@pytest.mark.accept("K8")
@pytest.mark.slow
def test_a_hundred_sends_at_a_restless_agent_give_no_wrong_receipt(host: LocalHost) -> None:
    turn = [{"end_turn": True}, {"sleep": 0.05}, {"permission": "may I?"}, {"run": "true"}, {"flood": 2000}]
    messages = [f"message {number}\n\x03 ".encode() * 20 for number in range(100)]
    receipts: dict[bytes, Receipt] = {}

    def send_some(agent: Running, some: list[bytes]) -> None:
        for message in some:
            receipts[message] = TYPE.send(agent.pane, message)

    with playing(host, {"repeat": "forever", "steps": turn}) as agent:
        senders = [threading.Thread(target=send_some, args=(agent, messages[n::4])) for n in range(4)]
        for sender in senders:
            sender.start()
        while any(sender.is_alive() for sender in senders):
            host.run(tmux(HostPaths(host.dir), "copy-mode", "-t", agent.pane.target))
            senders[0].join(0.1)
            host.run(tmux(HostPaths(host.dir), "send-keys", "-X", "-t", agent.pane.target, "cancel"))
            senders[0].join(0.1)
        bad = [one for one in receipts.values() if one.status not in (Delivery.DELIVERED, Delivery.QUEUED)]
        assert not bad, capture(agent.pane)
        assert wait_until(lambda: len(taken(agent)) >= 100, PATIENCE_S)
        assert sorted(taken(agent)) == sorted(map(digest, messages))


@pytest.mark.accept("K14")
def test_usage_adds_up(host: LocalHost) -> None:
    used = {"usage": {"input_tokens": 10, "output_tokens": 2, "cost_usd": 0.25, "model": "none"}}
    with playing(host, used, used, {"end_turn": True}) as agent:
        wait_kind(agent, "turn_ended")
        assert TYPE.usage(agent.spec, host) == Usage(20, 4, cost_usd=0.5, model="none")


@pytest.mark.accept("Q7")
@pytest.mark.parametrize("text", [b"{", b"{}", b'["say"]', b"\xff"])
def test_a_file_that_is_no_playbook_is_refused_here(host: LocalHost, text: bytes) -> None:
    path = f"{host.dir}/bad.json"
    host.write(path, text)
    with pytest.raises(UsageError, match="not a JSON list of steps"):
        TYPE.prepare(new_spec(TYPE, host, (path,)), host)


def test_a_missing_playbook_and_too_many_are_refused(host: LocalHost) -> None:
    with pytest.raises(UsageError, match="No such file"):
        TYPE.prepare(new_spec(TYPE, host, ("nowhere.json",)), host)
    with pytest.raises(UsageError, match="one playbook"):
        TYPE.command(new_spec(TYPE, host, ("a.json", "b.json")), host)
