"""The loopback Modal as a fixture: served from a thread of the test process while the run lasts."""

import asyncio
import os
import socket
import threading
import time
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest
from grpclib.server import Server
from modal_proto import api_pb2
from modal_proto.api_grpc import ModalClientBase
from modal_proto.task_command_router_grpc import TaskCommandRouterBase
from tests.support.modal.control import Control, Router
from tests.support.modal.sandboxes import Sandbox, StubSandbox, Yard
from tests.support.modal.served import Faults, Served
from tests.support.needs import needs

from mngr.hosts.modal.provider import ModalProvider
from mngr.hosts.modal.records import HostRecord
from mngr.model.host import HostSpec
from modal._serialization import serialize
from modal._utils.grpc_utils import custom_detail_codec

T = TypeVar("T")


class _Server(Server):
    """Remembers its connections: the SDK's client keeps them as long as the process lives."""

    def __init__(self, services: Sequence[Any]) -> None:
        super().__init__(services, status_details_codec=custom_detail_codec)
        self.connections: list[Any] = []

    def _protocol_factory(self) -> Any:
        self.connections.append(super()._protocol_factory())
        return self.connections[-1]

    def cut(self) -> None:
        """Breaks every connection."""
        for connection in self.connections:
            connection.processor.close()
        self.connections.clear()


class Service:
    """A running service; `env` makes the SDK use it."""

    def __init__(self, folder: Path) -> None:
        self.faults, self.yard = Faults(lambda: self._server.cut()), Yard(folder)
        self.control = Control(self.yard)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._services = [
            Served(ModalClientBase, self.control, self.faults),
            Served(TaskCommandRouterBase, Router(self.yard), self.faults),
        ]

    def start(self) -> None:
        async def serve() -> _Server:
            made = _Server(self._services)
            await made.start(sock=listening)
            return made

        # grpclib spares connections the delay of small packets only where it knows that they are TCP.
        listening = socket.socket(proto=socket.IPPROTO_TCP)
        listening.bind(("127.0.0.1", 0))
        self.control.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        self._thread.start()
        self._server = self.do(serve())

    def stop(self) -> None:
        async def stop() -> None:
            await self.yard.close()
            self._server.close()
            self._server.cut()
            await self._server.wait_closed()
            left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

        self.do(stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def env(self) -> dict[str, str]:
        return {
            "MODAL_SERVER_URL": self.control.url,
            "MODAL_TOKEN_ID": "ak-tests",
            "MODAL_TOKEN_SECRET": "as-tests",
            "MODAL_CONFIG_PATH": "/nonexistent/modal.toml",
            "no_proxy": "127.0.0.1",
        }

    def provider(self, app: str, **more: object) -> ModalProvider:
        made = ModalProvider("/nowhere")
        made.configure({"app": app, "image": "mngr-tests:base", **more})
        return made

    def running(self, app: str) -> list[Sandbox]:
        app_id = self.control.apps.get(app, "")
        return [each for each in self.yard.sandboxes.values() if each.app_id == app_id and not each.result]

    def names(self, app: str) -> list[str]:
        """The hosts whose sandboxes run."""
        return sorted(each.tags["mngr-host"] for each in self.running(app))

    def left(self, app: str) -> list[str]:
        """Everything that hosts of an app have left: sandboxes that run, and records."""
        kept = [key.decode(errors="replace") for key in self.control.dicts.get(f"di-{app}", {})]
        return self.names(app) + kept

    def add_stubs(self, provider: ModalProvider, app: str, looks: Sequence[tuple[HostSpec, bytes]]) -> None:
        """Hosts with their records, made without a call: what each answers a look with is given."""

        async def add() -> None:
            for spec, look in looks:
                request = api_pb2.SandboxCreateV2Request(app_id=self.control.apps[app])
                request.tags.add(tag_name="mngr-host", tag_value=spec.name)
                made = self.yard.add(StubSandbox(f"sb-{os.urandom(12).hex()}", request, look))
                record = HostRecord(spec, os.urandom(8).hex(), sandbox=made.id, task=made.task_id)
                kept = self.control.dicts[f"di-{app}"]
                kept[serialize(f"host/{spec.name}")] = serialize(msgspec.json.encode(record))

        list(provider.hosts())  # the app and its dictionary are there from the first call on
        self.do(add())

    def end(self, sandbox: Sandbox) -> None:
        """Ends a sandbox as Modal may at any time."""
        self.do(self.yard.end(sandbox))

    def end_as(self, sandbox: Sandbox, status: "api_pb2.GenericResult.GenericStatus.ValueType") -> None:
        """Ends a sandbox for a reason of Modal's own."""

        async def end() -> None:
            sandbox.finish(status)
            await self.yard.ended(sandbox)

        self.do(end())

    def reset(self) -> None:
        """Nothing goes wrong any more, and the lists are what they should be."""
        self.faults.clear()
        self.control.page, self.control.list_lag_s, self.control.lists_ended = 2, 0.0, False
        self.control.most, self.control.streams_builds = 0, False
        self.yard.clock, self.yard.is_old_kind, self.yard.makes_stubs = time.time, False, False

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)


_STARTED = pytest.StashKey[Service]()


@pytest.fixture(scope="session")
def modal(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The service of this process; the SDK's client in it is one for all tests, and so is this.

    Every module that imports the fixture has a session's fixture of its own, hence the stash.
    """
    if _STARTED in request.config.stash:
        yield request.config.stash[_STARTED]
        return
    user = () if os.geteuid() == 0 else ("-U", "--map-root-user")
    needs("mount and process namespaces", "unshare", *user, "-m", "-p", "-f", "--mount-proc", "true")
    made = Service(tmp_path_factory.mktemp("modal"))
    made.start()
    request.config.stash[_STARTED] = made
    before = {name: os.environ.get(name) for name in made.env}
    os.environ.update(made.env)
    yield made
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})
    made.stop()
