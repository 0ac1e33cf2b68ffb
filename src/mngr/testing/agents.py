"""What every agent type must do, as tests that a plugin author runs on theirs, with real tmux.

pytest.register_assert_rewrite("mngr.testing")  # in conftest.py: failures show their values

class TestMyType(AgentTypeConformance):
    @pytest.fixture
    def agent_type(self): ...
    @pytest.fixture
    def host(self): ...  # with a host dir that may be thrown away, short enough for a socket
    def argv(self, host): ...  # of an agent that takes messages until it is ended
    def times_taken(self, agent, message): ...  # by the program's own record, not by ours
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec
from msgspec import Struct

from mngr.agents.protocol import AgentType, Metered, Preflighted, Resumable, Transcribed
from mngr.errors import RefusedError, UsageError
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec, AgentState, WaitingReason
from mngr.model.event import STARTED, Event
from mngr.model.finding import LaunchPlan
from mngr.model.ids import new_agent_id
from mngr.model.message import MESSAGE_LIMIT, Delivery, Receipt, Spending, Usage
from mngr.process import wait_until
from mngr.sh.lines import append
from mngr.sh.program import READ_AND_RUN, encode
from mngr.store.fold import Folded
from mngr.store.paths import HostPaths
from mngr.store.probe import Evidence, probe_argv, read_probe
from mngr.store.runfile import RunFile, run_file_text
from mngr.store.untrusted import Pane
from mngr.testing.waiting import PATIENCE_S
from mngr.tmux.pane import AgentPane, capture, look
from mngr.tmux.session import kill_script, launch

MESSAGES = (
    b"hello",
    "ein Gruß, ünïcode → 🦊".encode(),
    b"two\nlines and a tab\t",
    b"$(echo no) `echo no` 'quotes' \"and\" \\backslashes\\ #; | & *",
    b"x" * 5000,
)
HOSTILE_MESSAGES = (
    b"ends the paste \x1b[201~ here",
    b"interrupt \x03 quit \x1c suspend \x1a",
    b"flow \x11 \x13 control, end \x04 of file, \x15 \x17 \x7f erase",
    b"not \xff\xfe text, and a \x00 byte",
    bytes(range(256)),
    b"\r\n\r\n",
)
"""Each of them either arrives exactly or is refused beforehand."""


class Running(Struct, frozen=True):
    """An agent that a test has started."""

    spec: AgentSpec
    host: Host
    pane: AgentPane


class Outcome(Struct, frozen=True):
    """What a type must make of evidence: the folded events of a living agent, and the state they mean."""

    folded: Folded
    state: AgentState
    reason: WaitingReason | None = None


@contextmanager
def running(agent_type: AgentType, host: Host, argv: Sequence[str]) -> Iterator[Running]:
    """Prepares and starts an agent as `create` does, and ends it."""
    spec = new_spec(agent_type, host, argv)
    start(agent_type, host, spec)
    try:
        yield Running(spec, host, AgentPane(host, spec.id, spec.session))
    finally:
        end(host, spec)


def new_spec(agent_type: AgentType, host: Host, argv: Sequence[str]) -> AgentSpec:
    work_dir = f"{host.dir}/work"
    host.run(("mkdir", "-p", work_dir)).check("making a work dir")
    agent_id = new_agent_id()
    name = f"a{agent_id[-6:]}"
    return AgentSpec(agent_id, name, agent_type.name, tuple(argv), work_dir, created_at=time.time())


def start(agent_type: AgentType, host: Host, spec: AgentSpec, *, resume: bool = False) -> None:
    own = HostPaths(host.dir).agent(spec.id)
    agent_type.prepare(spec, host)
    if resume and isinstance(agent_type, Resumable):
        command = agent_type.resume_command(spec, host)
    else:
        command = agent_type.command(spec, host)
    variables = {
        "MNGR_HOST_DIR": host.dir,
        "MNGR_AGENT_ID": spec.id,
        "MNGR_AGENT_NAME": spec.name,
        "MNGR_AGENT_STATE_DIR": own.dir,
        "MNGR_AGENT_WORK_DIR": spec.work_dir,
        "MNGR_OUTBOX": own.outbox,
    }
    run = RunFile(spec.work_dir, command.argv, {**command.env, **variables})
    host.write(own.run, encode(run_file_text(run, own)))
    host.write(own.spec, msgspec.json.encode(spec))
    launch(host, spec, before=append(own.events, Event(time.time(), STARTED)))


def end(host: Host, spec: AgentSpec) -> None:
    paths = HostPaths(host.dir)
    host.run(READ_AND_RUN, stdin=encode(kill_script(paths, [(spec.session, paths.agent(spec.id))])))


def kill(agent: Running) -> None:
    """Ends its process as a crash would; its pane stays."""
    agent.host.run(("kill", "-9", str(look(agent.pane).pid))).check("killing an agent")
    assert wait_until(lambda: not look(agent.pane).alive, PATIENCE_S)


class AgentTypeConformance:
    """Fixtures `agent_type` and `host` come from the subclass, and so do the methods that raise here."""

    messages: Sequence[bytes] = MESSAGES
    outcomes: Sequence[Outcome] = ()

    def argv(self, host: Host) -> Sequence[str]:
        """Arguments of an agent that takes messages until it is ended."""
        raise NotImplementedError

    def times_taken(self, agent: Running, message: bytes) -> int:
        """How often exactly this message reached the program, by its own record."""
        raise NotImplementedError

    def test_it_has_a_name(self, agent_type: AgentType) -> None:
        assert agent_type.name

    def test_preparing_twice_is_safe_and_stays_in_the_agents_directory(
        self, agent_type: AgentType, host: Host
    ) -> None:
        spec = new_spec(agent_type, host, self.argv(host))
        own = HostPaths(host.dir).agent(spec.id).dir
        before = _files(host, own)
        agent_type.prepare(spec, host)
        once = _state(host, own)
        agent_type.prepare(spec, host)
        assert _state(host, own) == once
        assert _files(host, own) == before

    def test_its_command_is_something_to_run(self, agent_type: AgentType, host: Host) -> None:
        spec = new_spec(agent_type, host, self.argv(host))
        command = agent_type.command(spec, host)
        assert command.argv
        assert command.argv[0]
        assert agent_type.command(spec, host) == command

    def test_it_says_before_a_launch_what_it_lacks(self, agent_type: AgentType) -> None:
        """With nothing given to it: no request is made, and whatever is missing has a fix."""
        if not isinstance(agent_type, Preflighted):
            return
        assert agent_type.program().strip().isprintable()
        assert "/" not in agent_type.program()
        findings = agent_type.login_findings(LaunchPlan())
        assert all(finding.found and (finding.ok or finding.fix) for finding in findings)

    def test_a_living_agent_without_news_has_a_state_and_a_reason(self, agent_type: AgentType) -> None:
        phase = agent_type.phase(_alive(Folded(created=True, started_at=1000.0)), 1010.0)
        assert phase.state in (AgentState.RUNNING, AgentState.WAITING, AgentState.UNKNOWN)
        assert phase.why
        assert (phase.waiting_reason is not None) == (phase.state is AgentState.WAITING)

    def test_evidence_means_what_the_type_says(self, agent_type: AgentType) -> None:
        for outcome in self.outcomes:
            phase = agent_type.phase(_alive(outcome.folded), 1010.0)
            assert (phase.state, phase.waiting_reason) == (outcome.state, outcome.reason)
            assert phase.why

    def test_usage_is_never_negative(self, agent_type: AgentType, host: Host) -> None:
        usage = agent_type.usage(new_spec(agent_type, host, self.argv(host)), host)
        assert (
            min(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
            >= 0
        )
        assert usage.cost_usd is None or usage.cost_usd >= 0

    def test_one_agent_takes_messages_ends_turns_is_resumed_and_dies(
        self, agent_type: AgentType, host: Host
    ) -> None:
        """All checks that need a running program, on one agent: real programs take seconds to start."""
        with running(agent_type, host, self.argv(host)) as agent:
            self.takes_each_message_once(agent_type, agent)
            self.takes_or_refuses_hostile_bytes(agent_type, agent)
            self.takes_the_largest_size_and_no_more(agent_type, agent)
            self.is_seen_to_end_its_turn(agent_type, agent)
            self.counts_what_it_used(agent_type, agent)
            self.goes_on_with_its_conversation(agent_type, agent)
            self.takes_nothing_when_it_is_dead(agent_type, agent)
            end(host, agent.spec)
            assert agent_type.send(agent.pane, b"too late").status is Delivery.BLOCKED, "its session is gone"

    def takes_each_message_once(self, agent_type: AgentType, agent: Running) -> None:
        for message in self.messages:
            assert _is_good(agent_type.send(agent.pane, message))
        for message in self.messages:
            self._wait_taken(agent, message)
        self._send_last(agent_type, agent, b"the last of many")
        assert [self.times_taken(agent, message) for message in self.messages] == [1] * len(self.messages)

    def takes_or_refuses_hostile_bytes(self, agent_type: AgentType, agent: Running) -> None:
        expected = {message: 0 if _refused(agent_type, agent, message) else 1 for message in HOSTILE_MESSAGES}
        self._send_last(agent_type, agent, b"after the hostile ones")
        assert {message: self.times_taken(agent, message) for message in HOSTILE_MESSAGES} == expected

    def takes_the_largest_size_and_no_more(self, agent_type: AgentType, agent: Running) -> None:
        largest, larger = b"0123456789abcde\n" * (MESSAGE_LIMIT // 16), b"x" * (MESSAGE_LIMIT + 1)
        assert _is_good(agent_type.send(agent.pane, largest))
        self._wait_taken(agent, largest)
        assert _refused(agent_type, agent, larger)
        self._send_last(agent_type, agent, b"after the large one")
        assert self.times_taken(agent, larger) == 0

    def is_seen_to_end_its_turn(self, agent_type: AgentType, agent: Running) -> None:
        if not isinstance(agent_type, Transcribed):
            return
        self._send_last(agent_type, agent, b"take a turn")

        def is_over() -> bool:
            found = read_probe(agent.host.run(probe_argv(HostPaths(agent.host.dir), agent.spec.id)).stdout)
            return agent_type.phase(found.agents[0], found.now).waiting_reason is WaitingReason.END_OF_TURN

        assert wait_until(is_over, PATIENCE_S), capture(agent.pane)

    def counts_what_it_used(self, agent_type: AgentType, agent: Running) -> None:
        if not isinstance(agent_type, Metered):
            return

        # A program may still be writing down its last turn: what is compared was read while nothing changed.
        def at_rest() -> tuple[Sequence[Spending], Usage] | None:
            before = agent_type.usage(agent.spec, agent.host)
            script = agent_type.usage_script(agent.spec, agent.host.dir)
            records = agent_type.read_usage(agent.host.run(READ_AND_RUN, stdin=encode(script)).stdout)
            total = agent_type.usage(agent.spec, agent.host)
            return (records, total) if total.output_tokens and total == before else None

        read = wait_until(at_rest, PATIENCE_S)
        assert read, "what it used never came to rest"
        records, total = read
        assert sum(record.output_tokens for record in records) == total.output_tokens
        assert sum(record.input_tokens for record in records) == total.input_tokens
        assert all(record.model and record.at > 0 for record in records)

    def goes_on_with_its_conversation(self, agent_type: AgentType, agent: Running) -> None:
        if not isinstance(agent_type, Transcribed):
            return
        self._send_last(agent_type, agent, b"remember this")
        assert _wait_for_turn(agent_type, agent.spec, agent.host, "remember this"), capture(agent.pane)
        if not isinstance(agent_type, Resumable):
            return
        turns = _user_turns(agent_type, agent.spec, agent.host)
        end(agent.host, agent.spec)
        start(agent_type, agent.host, agent.spec, resume=True)
        self._send_last(agent_type, agent, b"and this")
        assert _wait_for_turn(agent_type, agent.spec, agent.host, "and this"), capture(agent.pane)
        assert _user_turns(agent_type, agent.spec, agent.host) == [*turns, "and this"]
        clone = new_spec(agent_type, agent.host, agent.spec.argv)
        agent_type.copy_conversation(agent.spec, clone, agent.host)
        assert _user_turns(agent_type, clone, agent.host) == [*turns, "and this"]

    def takes_nothing_when_it_is_dead(self, agent_type: AgentType, agent: Running) -> None:
        kill(agent)
        receipt = agent_type.send(agent.pane, b"too late")
        assert receipt.status is Delivery.BLOCKED
        assert receipt.why
        assert self.times_taken(agent, b"too late") == 0

    def _send_last(self, agent_type: AgentType, agent: Running, message: bytes) -> None:
        """What was sent before this has arrived when this has: a terminal keeps the order."""
        assert _is_good(agent_type.send(agent.pane, message))
        self._wait_taken(agent, message)

    def _wait_taken(self, agent: Running, message: bytes) -> None:
        assert wait_until(lambda: self.times_taken(agent, message), PATIENCE_S), capture(agent.pane)


def _is_good(receipt: Receipt) -> bool:
    return receipt.status in (Delivery.DELIVERED, Delivery.QUEUED)


def _refused(agent_type: AgentType, agent: Running, message: bytes) -> bool:
    try:
        receipt = agent_type.send(agent.pane, message)
    except (RefusedError, UsageError):
        return True
    assert _is_good(receipt), receipt
    return False


def _alive(folded: Folded) -> Evidence:
    pane = Pane(
        pid=42, dead=False, exit_code=None, signal=None, dead_at=None, tty="/dev/pts/0", session="mngr-a"
    )
    return Evidence("agent-" + "0" * 32, folded=folded, alive=True, pane=pane)


def _user_turns(agent_type: Transcribed, spec: AgentSpec, host: Host) -> list[str]:
    return [turn.text for turn in agent_type.transcript(spec, host) if turn.role == "user"]


def _wait_for_turn(agent_type: Transcribed, spec: AgentSpec, host: Host, last: str) -> bool | None:
    """Whether this becomes the last message of the user in the conversation, which a program may write with a delay."""
    return wait_until(lambda: _user_turns(agent_type, spec, host)[-1:] == [last], PATIENCE_S)


def _files(host: Host, but: str) -> list[str]:
    """Every file under the host dir that is not in `but`."""
    found = host.run(("find", host.dir, "-path", but, "-prune", "-o", "-type", "f", "-print")).text
    return sorted(found.splitlines())


def _state(host: Host, folder: str) -> list[tuple[str, bytes]]:
    found = host.run(("find", folder, "-type", "f")).text
    return [(path, host.read(path)) for path in sorted(found.splitlines())]
