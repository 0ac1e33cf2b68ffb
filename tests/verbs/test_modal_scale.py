"""Many sandboxes: what a look over all of them costs in calls and descriptors, and what it says of those it missed."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.modal.fleet import stub_hosts
from tests.support.modal.sandboxes import StubSandbox
from tests.support.modal.service import Service
from tests.support.world import World

import mngr
from mngr import process
from mngr.actions.exec import exec_in
from mngr.actions.list import look_everywhere, look_warnings
from mngr.hosts.modal.provider import ModalProvider
from mngr.model.host import HostState
from mngr.testing.waiting import PATIENCE_S

pytestmark = pytest.mark.slow

HOSTS = 60


class Fleet:
    """A world with many stub hosts at Modal."""

    def __init__(self, world: World, service: Service) -> None:
        self.world, self.service, self.app = world, service, f"t{os.urandom(4).hex()}"
        service.control.page = 100
        service.add_stubs(self.provider(), self.app, stub_hosts(HOSTS))

    def provider(self) -> ModalProvider:
        return self.service.provider(self.app)

    def manager(self) -> mngr.Manager:
        return self.world.manager(modal=self.provider())

    def end(self) -> None:
        self.service.reset()
        for sandbox in self.service.running(self.app):
            self.service.end(sandbox)
        self.world.end()


@pytest.fixture
def fleet(tmp_path: Path, modal: Service) -> Iterator[Fleet]:
    made = Fleet(World(tmp_path), modal)
    yield made
    made.end()


def test_a_look_over_many_sandboxes_is_complete_in_three_calls_each(fleet: Fleet) -> None:
    asked, manager = fleet.service.faults.asked, fleet.manager()
    asked.clear()
    before = _descriptors()
    looks = look_everywhere(manager, provider="modal", deadline_s=PATIENCE_S)
    assert sorted(row.agent.name for look in looks for row in look.rows) == sorted(
        f"a{number}" for number in range(HOSTS)
    )
    assert asked.total() <= 3 * HOSTS + 10, asked
    # A connection for each, at both ends: the loopback Modal is in this process.
    assert _descriptors() - before <= 2 * HOSTS + 20
    asked.clear()
    again = look_everywhere(manager, provider="modal", deadline_s=PATIENCE_S)
    assert sum(len(look.rows) for look in again) == HOSTS
    assert asked.total() <= 2 * HOSTS + 5, asked  # the connections are kept


def test_a_command_by_a_bare_name_asks_the_one_host_that_is_known_to_have_it(fleet: Fleet) -> None:
    fleet.service.faults.asked.clear()
    code = exec_in("a7", ["true"], on_output=lambda _stream, _data: None, manager=fleet.manager())
    assert code == 0
    assert fleet.service.faults.asked.total() <= 30, fleet.service.faults.asked
    with pytest.raises(mngr.MngrError, match='no agent "a777"'):
        exec_in("a777", ["true"], on_output=lambda _stream, _data: None, manager=fleet.manager())


def test_a_look_that_missed_hosts_says_how_many(fleet: Fleet) -> None:
    silent = {f"h{number}" for number in range(5)}
    for sandbox in fleet.service.running(fleet.app):
        assert isinstance(sandbox, StubSandbox)
        sandbox.refuses = sandbox.tags["mngr-host"] in silent
    looks = look_everywhere(fleet.manager(), provider="modal", deadline_s=PATIENCE_S)
    assert {look.ref.name for look in looks if look.ref.state == HostState.UNREACHABLE} == silent
    (warning,) = look_warnings(looks)
    assert warning.startswith(f"5 of {HOSTS} hosts of modal did not answer: h0, h1, h2 and 2 more")


def test_list_of_silent_sandboxes_ends_quietly_and_claims_nothing(fleet: Fleet) -> None:
    fleet.service.faults.late_s["TaskExecStart"] = 3600
    fleet.world.host_dir.mkdir(exist_ok=True)
    (fleet.world.host_dir / "config.toml").write_text(f'[providers.modal]\napp = "{fleet.app}"\n')
    argv = [sys.executable, "-m", "mngr", "list"]
    env = {**fleet.service.env, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = process.run(argv, env={**fleet.world.env, **env}, cwd=str(fleet.world.repo), timeout_s=PATIENCE_S)
    told = done.text + done.stderr.decode()
    assert done.code == 0, told
    assert "No agents yet" not in told
    assert "did not answer" in told
    # A traceback, or a word of the event loop about what it was left with.
    assert not [word for word in ("Traceback", "Task ", "coroutine", "Exception") if word in told], told
    assert len(told.splitlines()) <= 5, told


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))
