"""A host or provider that does not answer costs its deadline and a warning, never the list."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from mngr_box.provider import BoxProvider
from tests.support.world import World

import mngr
from mngr import process
from mngr.actions.create.request import HOST_FIELDS
from mngr.actions.rows import LIST_S
from mngr.errors import TimedOutError, UnreachableError
from mngr.hosts.local import LocalHost
from mngr.model.host import HostRef, HostSpec, HostState
from mngr.process import Completed
from mngr.store.paths import HostPaths
from mngr.tmux.server import tmux


class SilentHost(LocalHost):
    """Answers nothing: every command runs into its deadline."""

    name = "silent"
    provider = "far"

    def __init__(self, host_dir: str, deadlines: list[float]) -> None:
        super().__init__(host_dir)
        self._deadlines = deadlines

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Completed:
        self._deadlines.append(timeout_s)
        raise TimedOutError(f"no answer within {timeout_s:g} s")


class FarProvider:
    """A provider with a host that is silent, one that is gone, and one that is stopped."""

    name = "far"
    options = frozenset({"cpus"})

    def __init__(self, host_dir: str) -> None:
        self._dir = host_dir
        self.deadlines: list[float] = []

    def create(self, spec: HostSpec) -> Any:
        raise UnreachableError("its control plane is down")

    def open(self, name: str) -> Any:
        if name == "gone":
            raise UnreachableError("the line is dead")
        return SilentHost(self._dir, self.deadlines)

    def hosts(self) -> list[HostRef]:
        states = {"silent": HostState.RUNNING, "gone": HostState.RUNNING, "asleep": HostState.STOPPED}
        return [HostRef(name, self.name, state) for name, state in states.items()]

    def stop(self, name: str) -> None:
        raise UnreachableError("the line is dead")

    def destroy(self, name: str) -> None:
        raise UnreachableError("the line is dead")


class DeadProvider(FarProvider):
    def hosts(self) -> list[HostRef]:
        raise UnreachableError("its control plane is down")


@pytest.mark.accept("K11")
def test_unreachable_hosts_are_warnings_and_rows_of_others_stay(world: World) -> None:
    mngr.create("here", args=("sleep", "1000"), manager=world.manager())
    far = FarProvider(str(world.folder / "far"))
    listing = mngr.list_agents(manager=world.manager(far=far, dead=DeadProvider("x")))
    assert [agent.name for agent in listing.agents] == ["here"]
    states = {host.name: host.state for host in listing.hosts}
    assert states == {
        "local": "RUNNING",
        "silent": "UNREACHABLE",
        "gone": "UNREACHABLE",
        "asleep": "STOPPED",
        "dead": "UNREACHABLE",
    }
    assert len(listing.warnings) == 3
    assert far.deadlines == [LIST_S]
    assert LIST_S <= 3


@pytest.mark.accept("K4")
def test_a_host_that_cannot_be_made_leaves_nothing_and_says_unreachable(world: World) -> None:
    with pytest.raises(UnreachableError, match="control plane"):
        mngr.create("foo@.far", args=("true",), manager=world.manager(far=FarProvider("x")))
    assert world.left_behind() == []


class BusyHost(LocalHost):
    """From a moment on it needs longer for an answer than a list waits."""

    name, provider = "busy", "slow"
    is_busy = False

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Completed:
        if self.is_busy and timeout_s <= LIST_S:
            raise TimedOutError(f"no answer within {timeout_s:g} s")
        return super().run(argv, stdin=stdin, timeout_s=timeout_s, env=env, cwd=cwd)


class BusyProvider(FarProvider):
    name = "slow"

    def __init__(self, host_dir: str) -> None:
        self.host, self.state = BusyHost(host_dir), HostState.RUNNING
        self.slow_listings = 0

    def create(self, spec: HostSpec) -> Any:
        return self.host

    def open(self, name: str) -> Any:
        return self.host

    def hosts(self) -> list[HostRef]:
        if self.slow_listings:
            self.slow_listings -= 1
            threading.Event().wait(LIST_S + 1)
        return [HostRef("busy", self.name, self.state)]

    def start(self, name: str) -> Any:
        self.state = HostState.RUNNING
        return self.host


@pytest.fixture
def slow(world: World) -> Iterator[BusyProvider]:
    made = BusyProvider(str(world.folder / "far"))
    yield made
    paths = HostPaths(made.host.dir)
    process.run(tmux(paths, "kill-server"))


@pytest.mark.accept("K11")
def test_a_host_too_slow_for_a_list_is_waited_for_by_what_acts_on_its_agents(
    world: World, slow: BusyProvider
) -> None:
    manager = world.manager(slow=slow)
    mngr.create("foo@busy.slow", args=("sleep", "1000"), transfer="none", manager=manager)
    slow.host.is_busy = True
    (listed,) = [row for row in mngr.list_agents(manager=manager).agents if row.host.name == "busy"]
    assert (listed.state, listed.host.state) == ("UNKNOWN", "UNREACHABLE")
    assert mngr.label("foo@busy.slow", {"k": "v"}, manager=manager).agent.labels == {"k": "v"}
    (stopped,) = mngr.stop(listed, manager=manager)
    assert stopped.agent.state == "STOPPED"


@pytest.mark.accept("K11")
def test_a_stopped_host_is_started_though_its_provider_was_too_slow_for_a_list(
    world: World, slow: BusyProvider
) -> None:
    manager = world.manager(slow=slow)
    mngr.create("foo@busy.slow", args=("sleep", "1000"), transfer="none", manager=manager)
    mngr.stop("foo", manager=manager)
    slow.state, slow.slow_listings = HostState.STOPPED, 1
    assert mngr.start("foo", manager=manager).agent.state == "RUNNING"
    assert slow.state == HostState.RUNNING


VALUES = {
    "image": "debian",
    "cpus": 2,
    "memory": "1g",
    "offline": True,
    "snapshot": "s1",
    "idle_timeout": "5m",
    "lease": "1h",
    "timeout": "1h",
}


@pytest.mark.accept("K17")
@pytest.mark.parametrize("provider", ["local", "far", "box", "ssh", "faulty"])
@pytest.mark.parametrize("field", HOST_FIELDS)
def test_an_option_the_provider_cannot_honour_is_an_error(world: World, provider: str, field: str) -> None:
    boxes = BoxProvider(str(world.host_dir))
    manager = world.manager(far=FarProvider("x"), box=boxes)
    # Snapshots are ours to honour on any plain host; this one only does not exist.
    honoured = field in manager.provider(provider).options or field == "snapshot"
    with pytest.raises(mngr.MngrError) as error:
        mngr.create(f"foo@.{provider}", args=("no-such-program",), manager=manager, **{field: VALUES[field]})  # type: ignore[arg-type]
    refused = f"cannot honour --{field.replace('_', '-')}" in error.value.message
    assert refused is not honoured
    assert world.left_behind() == []
    assert list(boxes.hosts()) == []
