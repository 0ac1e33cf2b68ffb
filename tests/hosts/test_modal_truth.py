"""What the listing, the limits and the silence of Modal must not make us believe; its sandboxes run nothing here."""

import os
import time
from collections.abc import Iterator

import pytest
from grpclib.const import Status
from modal_proto import api_pb2
from tests.support.modal.served import Refusal
from tests.support.modal.service import Service

from mngr.errors import CapacityError, LostError, UnreachableError, UsageError
from mngr.hosts.modal.provider import ModalProvider
from mngr.hosts.modal.rate import Rate
from mngr.hosts.modal.records import HostRecord
from mngr.model.host import HostSpec, HostState

pytestmark = pytest.mark.slow

_EXIT_SNAPSHOT_CALLS = ("SandboxGetExitSnapshotV2", "SandboxGetExitSnapshot")
_FOREVER_S = 1e9


@pytest.fixture
def app(modal: Service) -> Iterator[str]:
    """An app whose sandboxes are stubs."""
    modal.yard.makes_stubs = True
    made = f"t{os.urandom(4).hex()}"
    yield made
    modal.reset()
    for sandbox in modal.running(made):
        modal.end(sandbox)


@pytest.fixture
def provider(modal: Service, app: str) -> ModalProvider:
    return modal.provider(app, create_rate=0)


def _states(provider: ModalProvider) -> dict[str, HostState]:
    return {ref.name: ref.state for ref in provider.hosts()}


@pytest.mark.accept("E4")
def test_sandboxes_that_the_list_misses_run_and_are_ended_by_destroy(
    modal: Service, provider: ModalProvider, app: str
) -> None:
    for name in ("one", "two"):
        provider.create(HostSpec(name=name))
    modal.control.list_lag_s = _FOREVER_S
    fresh = modal.provider(app)
    assert _states(fresh) == {"one": HostState.RUNNING, "two": HostState.RUNNING}
    assert [ref.why for ref in fresh.hosts()] == ["", ""]
    assert fresh.open("one").run(["true"]).code == 0
    modal.provider(app).destroy("one")
    assert modal.names(app) == ["two"]
    modal.faults.status["SandboxListV2"] = Status.UNAVAILABLE
    modal.provider(app).destroy("two")  # its record names it, whatever the list says
    modal.faults.clear()
    assert modal.left(app) == []


@pytest.mark.accept("E4")
def test_sandboxes_created_at_the_same_moment_all_run(
    modal: Service, provider: ModalProvider, app: str
) -> None:
    modal.yard.clock = lambda: 1000.0
    names = [f"h{number}" for number in range(5)]
    for name in names:
        provider.create(HostSpec(name=name))
    assert _states(modal.provider(app)) == dict.fromkeys(names, HostState.RUNNING)


@pytest.mark.accept("E4")
def test_a_creation_that_was_cut_off_is_ended_though_no_list_shows_it(
    modal: Service, provider: ModalProvider, app: str
) -> None:
    provider.create(HostSpec(name="lab"))
    (sandbox,) = modal.running(app)
    records = provider._records
    known = provider._ask("read", lambda: records.host("lab"))
    assert known
    # As it was before Modal's answer arrived: the name is taken, and no sandbox is named.
    provider._ask("write", lambda: records.put_host("lab", HostRecord(known.spec, known.creation)))
    modal.control.list_lag_s = _FOREVER_S
    modal.provider(app).destroy("lab")
    assert sandbox.result
    assert modal.left(app) == []


def test_rows_of_ended_sandboxes_in_the_list_are_stopped(
    modal: Service, provider: ModalProvider, app: str
) -> None:
    provider.create(HostSpec(name="lab"))
    modal.control.lists_ended = True
    modal.end(modal.running(app)[0])
    assert _states(modal.provider(app)) == {"lab": HostState.STOPPED}


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ("TIMEOUT", "its time was over"),
        ("KERNEL_OOM_KILL", "out of memory"),
        ("MEMORY_MANAGER_EVICTION", "evicted"),
        ("MEMORY_THRASHING_EVICTION", "evicted"),
        ("INTERNAL_FAILURE", "internal failure"),
        ("INIT_FAILURE", "could not start it"),
    ],
)
def test_the_reason_why_a_sandbox_ended_is_named(
    modal: Service, provider: ModalProvider, app: str, status: str, why: str
) -> None:
    provider.create(HostSpec(name="lab"))
    modal.end_as(modal.running(app)[0], api_pb2.GenericResult.GenericStatus.Value(f"GENERIC_STATUS_{status}"))
    for asked in (provider, modal.provider(app)):
        (ref,) = asked.hosts()
        assert (ref.state, why in ref.why) == (HostState.STOPPED, True), ref.why


def test_a_host_whose_snapshot_expired_is_lost_and_can_be_destroyed(
    modal: Service, provider: ModalProvider, app: str
) -> None:
    provider.create(HostSpec(name="lab"))
    before = set(modal.yard.images)
    provider.stop("lab")
    for image in set(modal.yard.images) - before:
        del modal.yard.images[image]
    with pytest.raises(LostError, match="has expired") as caught:
        provider.start("lab")
    assert "destroy" in caught.value.hint
    provider.destroy("lab")
    assert modal.left(app) == []


def test_exit_snapshots_are_asked_for_only_where_they_are_on(
    modal: Service, provider: ModalProvider, app: str
) -> None:
    def asked() -> int:
        return sum(modal.faults.asked[call] for call in _EXIT_SNAPSHOT_CALLS)

    before = asked()
    for ends in (True, False):
        provider.create(HostSpec(name="lab"))
        if ends:
            modal.end(modal.running(app)[0])
            with pytest.raises(LostError):
                provider.start("lab")
        provider.destroy("lab")
    assert asked() == before


def test_exit_snapshots_leave_no_images(modal: Service, app: str) -> None:
    modal.yard.makes_stubs = False  # a stub has no files to keep
    provider = modal.provider(app, exit_snapshots=True, image="mngr-tests:base")
    provider.create(HostSpec(name="first"))
    provider.destroy("first")
    before = set(modal.yard.images)
    provider.create(HostSpec(name="lab"))
    provider.stop("lab")
    assert len(set(modal.yard.images) - before) == 1
    provider.start("lab")
    modal.end(modal.running(app)[0])
    provider.start("lab")  # from the exit snapshot: the one of the stop is of no use any more
    assert len(set(modal.yard.images) - before) == 1
    modal.end(modal.running(app)[0])
    provider.destroy("lab")
    assert set(modal.yard.images) == before


def test_more_than_a_day_is_refused_before_anything_is_made(
    modal: Service, provider: ModalProvider, app: str
) -> None:
    with pytest.raises(UsageError, match="a day at most, not 3d") as caught:
        provider.create(HostSpec(name="lab", timeout="3d"))
    assert "24h" in caught.value.hint
    with pytest.raises(UsageError, match="a day at most"):
        modal.provider(app, timeout="25h").create(HostSpec(name="lab"))
    assert modal.left(app) == []


@pytest.mark.accept("E3")
def test_a_limit_is_waited_out_for_a_moment_and_then_said_to_be_for_now(
    modal: Service, provider: ModalProvider, app: str
) -> None:
    modal.faults.refuse["SandboxCreateV2"] = Refusal(1)
    assert provider.create(HostSpec(name="one")).run(["true"]).code == 0
    modal.control.most = sum(not each.result for each in modal.yard.sandboxes.values())
    with pytest.raises(CapacityError, match="limited to") as caught:
        provider.create(HostSpec(name="two"))
    assert caught.value.hint
    modal.control.most = 0
    assert _states(provider) == {"one": HostState.RUNNING}
    provider.create(HostSpec(name="two"))


@pytest.mark.accept("E3")
def test_a_limit_with_a_long_pause_says_how_long(modal: Service, provider: ModalProvider) -> None:
    list(provider.hosts())
    modal.faults.refuse["SandboxCreateV2"] = Refusal(100, retry_after_s=120)
    with pytest.raises(CapacityError) as caught:
        provider.create(HostSpec(name="lab"))
    assert caught.value.retry_after_s == 120


def test_a_warning_of_the_sdk_is_one_line_of_our_own_output(
    modal: Service, provider: ModalProvider, capfd: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []
    list(provider.hosts())
    provider.warn_by(said.append)
    capfd.readouterr()
    modal.faults.refuse["SandboxCreateV2"] = Refusal(1, retry_after_s=0.1)
    provider.create(HostSpec(name="lab"))
    (line,) = said
    assert line.startswith("modal: ")
    assert "\n" not in line
    assert capfd.readouterr().err == ""


def test_creations_are_let_through_so_many_in_a_second() -> None:
    rate, began = Rate(50), time.monotonic()
    for _ in range(6):
        rate.wait()
    assert time.monotonic() - began >= 5 / 50


@pytest.mark.accept("K11")
@pytest.mark.parametrize("step", ["AppGetOrCreate", "SandboxCreateV2"])
def test_modal_that_is_away_during_a_creation_is_noticed_soon(
    modal: Service, provider: ModalProvider, step: str
) -> None:
    """In whatever call it hangs, and though a sandbox may take half an hour: with the undoing of it, within 30 s."""
    if step == "SandboxCreateV2":
        list(provider.hosts())
    modal.faults.late_s.update(dict.fromkeys((step, "ClientHello", "SandboxListV2", "DictPop"), 3600))
    began = time.monotonic()
    with pytest.raises(UnreachableError, match="did not answer within"):
        provider.create(HostSpec(name="lab"))
    with pytest.raises(UnreachableError):
        provider.destroy("lab")
    assert time.monotonic() - began < 90  # 20 to 30 s, on a machine that does nothing else
