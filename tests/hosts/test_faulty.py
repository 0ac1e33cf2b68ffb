"""The fault provider is a host like any other until it is told to be a bad one."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.world import World

import mngr
from mngr.actions.gc.gc import find_garbage
from mngr.errors import CapacityError, MngrError, UnreachableError, UsageError
from mngr.hosts.protocol import shares_files
from mngr.model.host import HostSpec, HostState
from mngr.testing.faulty.host import FaultyHost
from mngr.testing.faulty.provider import FaultyProvider
from mngr.testing.hosts import HostConformance, LifecycleConformance

pytestmark = pytest.mark.accept("Q3")


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[FaultyProvider]:
    provider = FaultyProvider(str(tmp_path / "h"))
    yield provider
    provider.configure({})
    for ref in provider.hosts():
        provider.destroy(ref.name)


class TestFaultyHost(HostConformance):
    @pytest.fixture
    def host(self, provider: FaultyProvider) -> FaultyHost:
        return provider.create(HostSpec(name="one"))


class TestFaultyProvider(LifecycleConformance):
    pass


def outcomes(provider: FaultyProvider, seed: int) -> list[bool]:
    provider.configure({})
    provider.create(HostSpec(name="one"))
    provider.configure({"drop": 0.4, "seed": seed})
    host, answered = provider.open("one"), []
    for _ in range(20):
        try:
            answered.append(host.run(["true"]).code == 0)
        except UnreachableError:
            answered.append(False)
    provider.destroy("one")
    return answered


def test_the_same_seed_makes_the_same_faults(provider: FaultyProvider) -> None:
    first = outcomes(provider, 3)
    assert outcomes(provider, 3) == first
    assert 3 < first.count(False) < 17
    assert outcomes(provider, 5) != first


def test_a_lost_call_may_have_been_carried_out(provider: FaultyProvider) -> None:
    host = provider.create(HostSpec(name="one"))
    provider.configure({"drop": 1.0})
    bad = provider.open("one")
    for number in range(12):
        with pytest.raises(UnreachableError, match="broke"):
            bad.run(["touch", f"{host.dir}/{number}"])
    assert 0 < len(host.run(["ls", host.dir]).text.split()) < 12


def test_a_stream_may_break_in_the_middle(provider: FaultyProvider) -> None:
    provider.create(HostSpec(name="one"))
    provider.configure({"drop": 1.0, "seed": 1})
    host, broken = provider.open("one"), 0
    for _ in range(6):
        try:
            stream = host.stream(["cat"])
        except UnreachableError:
            continue
        assert stream.stdout.read() == b""
        with pytest.raises(UnreachableError):
            stream.wait(90)
        stream.kill()
        broken += 1
    assert broken


def test_latency_is_added_to_every_call(provider: FaultyProvider) -> None:
    provider.configure({"latency_s": 0.2})
    host = provider.create(HostSpec(name="one"))
    began = time.monotonic()
    host.run(["true"])
    assert time.monotonic() - began >= 0.2


def test_a_full_disk_takes_no_byte_more_and_gives_back_what_is_there(provider: FaultyProvider) -> None:
    host = provider.create(HostSpec(name="one"))
    host.write(f"{host.dir}/file", b"kept")
    provider.configure({"full_after": 1})
    full = provider.open("one")
    with pytest.raises(MngrError, match=r"(?i)too large"):
        full.write(f"{host.dir}/file", b"new")
    assert full.run(["sh", "-c", 'echo x >"$1"', "sh", f"{host.dir}/other"]).code != 0
    assert full.read(f"{host.dir}/file") == b"kept"


def test_a_lost_host_is_gone_for_good_and_more_calls_than_the_rate_are_refused(
    provider: FaultyProvider,
) -> None:
    provider.configure({"lose_after": 3})
    host = provider.create(HostSpec(name="one"))
    assert [host.run(["true"]).code for _ in range(2)] == [0, 0]
    for _ in range(2):
        with pytest.raises(UnreachableError):
            host.run(["true"])
    assert [ref.state for ref in provider.hosts()] == [HostState.UNREACHABLE]
    provider.destroy("one")
    provider.configure({"rate": 2})
    host = provider.create(HostSpec(name="two"))
    host.run(["true"])
    host.run(["true"])
    with pytest.raises(UnreachableError, match="more than 2 calls"):
        host.run(["true"])


def test_an_unknown_fault_is_named(provider: FaultyProvider) -> None:
    with pytest.raises(UsageError, match="dorp"):
        provider.configure({"dorp": 1})


@pytest.mark.slow
@pytest.mark.accept("K4", "P6")
def test_agents_on_bad_hosts_come_to_be_or_leave_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    provider = FaultyProvider(str(world.host_dir))
    manager = world.manager(faulty=provider)
    provider.configure({"drop": 0.12, "latency_s": 0.02, "seed": 11})
    made, failed = [], 0
    try:
        for number in range(12):
            try:
                made.append(
                    mngr.create(f"a{number}@.faulty", args=("sleep", "1000"), manager=manager).agent.name
                )
            except MngrError:
                failed += 1
        provider.configure({})
        assert made
        assert failed
        listing = mngr.list_agents(manager=world.manager(faulty=provider))
        assert {agent.name for agent in listing.agents if agent.state == "RUNNING"} >= set(made)
        assert not any(shares_files(provider.open(ref.name)) for ref in provider.hosts())
        assert listing.warnings == ()
        kinds = {item.kind for item in find_garbage(manager=world.manager(faulty=provider))}
        assert kinds <= {"host", "creation", "work dir", "name", "agent dir", "session"}
    finally:
        provider.configure({})
        for ref in provider.hosts():
            provider.destroy(ref.name)
        world.end()


@pytest.mark.accept("E3")
def test_hosts_past_a_limit_or_too_many_in_a_second_are_refused_for_now(provider: FaultyProvider) -> None:
    provider.configure({"max_hosts": 2})
    for name in ("one", "two"):
        provider.create(HostSpec(name=name))
    with pytest.raises(CapacityError, match="no more than 2 may run"):
        provider.create(HostSpec(name="three"))
    provider.stop("one")
    provider.create(HostSpec(name="three"))
    provider.configure({"create_rate": 1})
    refused = list[CapacityError]()
    for number in range(50):
        try:
            provider.create(HostSpec(name=f"more-{number}"))
        except CapacityError as error:
            refused.append(error)
            break
    assert refused[0].retry_after_s == 1.0
