"""The loopback Modal of the tests does to the real SDK what Modal does: limits, lags, old ids, builds with a log."""

import os
from collections.abc import Iterator

import pytest
from tests.support.modal.sandboxes import StubSandbox
from tests.support.modal.served import Refusal
from tests.support.modal.service import Service

from mngr.errors import MngrError, UnreachableError
from mngr.hosts.modal.provider import ModalProvider
from mngr.model.host import HostSpec

pytestmark = pytest.mark.slow


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
    return modal.provider(app)


def test_a_stub_answers_a_look_and_runs_nothing(modal: Service, provider: ModalProvider, app: str) -> None:
    host = provider.create(HostSpec(name="lab"))
    (sandbox,) = modal.running(app)
    assert isinstance(sandbox, StubSandbox)
    sandbox.look = b"B boot 7\n"
    assert host.run(["sh", "-c", "", "mngr-probe"]).stdout == b"B boot 7\n"
    done = host.run(["rm", "-rf", "/nonexistent"], stdin=b"input")
    assert (done.code, done.stdout, done.stderr) == (0, b"", b"")
    provider.destroy("lab")
    assert modal.left(app) == []


def test_stubs_are_added_with_their_records_and_without_a_call(
    modal: Service, provider: ModalProvider, app: str
) -> None:
    asked = modal.faults.asked["SandboxCreateV2"]
    modal.add_stubs(provider, app, [(HostSpec(name=f"h{number}"), b"") for number in range(3)])
    assert modal.faults.asked["SandboxCreateV2"] == asked
    assert [ref.name for ref in modal.provider(app).hosts()] == ["h0", "h1", "h2"]
    assert provider.open("h1").run(["true"]).code == 0


def test_sandboxes_with_ids_of_the_old_kind_are_found_and_ended(
    modal: Service, provider: ModalProvider, app: str
) -> None:
    modal.yard.is_old_kind = True
    provider.create(HostSpec(name="old"))
    asked = modal.faults.asked["SandboxWait"]
    again = modal.provider(app)
    assert again.open("old").run(["true"]).code == 0
    assert modal.faults.asked["SandboxWait"] > asked
    again.destroy("old")
    assert modal.left(app) == []


def test_an_image_whose_build_is_streamed_is_waited_for(modal: Service, app: str) -> None:
    modal.control.streams_builds = True
    asked = modal.faults.asked["ImageJoinStreaming"]
    modal.provider(app, image=f"fresh-{app}:1").create(HostSpec(name="built"))
    assert modal.faults.asked["ImageJoinStreaming"] > asked


def test_a_limit_of_containers_and_a_rate_limit_refuse(
    modal: Service, provider: ModalProvider, app: str
) -> None:
    provider.create(HostSpec(name="one"))
    modal.control.most = sum(not each.result for each in modal.yard.sandboxes.values())
    with pytest.raises(UnreachableError, match="limited to"):
        provider.create(HostSpec(name="two"))
    modal.control.most = 0
    asked = modal.faults.asked["SandboxCreateV2"]
    modal.faults.refuse["SandboxCreateV2"] = Refusal(2, retry_after_s=0.1)
    provider.create(HostSpec(name="three"))  # the SDK asks again by itself, as it was told
    assert modal.faults.asked["SandboxCreateV2"] == asked + 3


def test_an_image_that_vanished_makes_no_sandbox(modal: Service, provider: ModalProvider, app: str) -> None:
    provider.create(HostSpec(name="lab"))
    provider.stop("lab")
    for image in [name for name in modal.yard.images if name != "im-base"]:
        del modal.yard.images[image]
    with pytest.raises(MngrError):
        provider.start("lab")
    assert modal.names(app) == []
