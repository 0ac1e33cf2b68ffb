"""The provider `modal`: sandboxes made, found and ended with Modal's SDK, which knows who you are.

A sandbox cannot be stopped and started again, so to stop one is to snapshot its files and end it, and to start it is to
make another from that snapshot.
"""

import asyncio
import os
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

import msgspec

from mngr.errors import LostError, MngrError, NotFoundError, RefusedError, UnreachableError, did_you_mean
from mngr.hosts.bootstrap import bootstrap
from mngr.hosts.container import HOST_DIR
from mngr.hosts.keeper import keeper_argv
from mngr.hosts.labels import AGENT
from mngr.hosts.modal_call import ASK_S, call, sdk
from mngr.hosts.modal_host import ModalHost
from mngr.hosts.modal_image import image_of
from mngr.hosts.modal_records import HostRecord, Records, SnapshotRecord
from mngr.hosts.modal_sandbox import asked_of, exit_image, forget_image, why_it_ended
from mngr.hosts.modal_settings import ModalSettings, read_settings
from mngr.hosts.protocol import Host
from mngr.model.host import HostRef, HostSpec, HostState
from mngr.model.ids import check_name, random_name

T = TypeVar("T")

HOST, CREATION = "mngr-host", "mngr-creation"
_MAKE_S = 1800.0
_SNAPSHOT_S = 600.0
_END_S = 60.0
_STOPPED_KEPT_S = 30 * 24 * 3600


class ModalProvider:
    """Sandboxes of one app."""

    name = "modal"
    options = frozenset({"image", "cpus", "memory", "offline", "snapshot", "timeout", "lease"})

    def __init__(self, _host_dir: str) -> None:
        """It keeps nothing on this machine."""
        self._settings = ModalSettings()
        self._app: Any = None
        self._records_found: Records | None = None

    def configure(self, settings: Mapping[str, Any]) -> None:
        self._settings = read_settings(settings)
        # Elsewhere a host that was idle has its files when it is started again.
        self.options = type(self).options | ({"idle_timeout"} if self._settings.exit_snapshots else set())

    def create(self, spec: HostSpec) -> ModalHost:
        name = check_name(spec.name or random_name(), "host name")
        record = HostRecord(msgspec.structs.replace(spec, name=name), os.urandom(8).hex())
        doing = f'cannot make sandbox "{name}"'
        image = self._image(spec)
        try:
            if not self._ask(doing, self._records.add_host(name, record)):
                raise RefusedError(f'there is a sandbox "{name}" already', hint="choose another name")
            return self._launch(record, image, doing)
        except BaseException:
            self._take_back(record)
            raise

    def open(self, name: str) -> ModalHost:
        sandbox = self._ask(f'cannot find sandbox "{name}"', self._running(name))
        if sandbox is None:
            raise UnreachableError(
                f'sandbox "{name}" is stopped', hint="starting one of its agents starts it again"
            )
        return ModalHost(name, sandbox)

    def hosts(self) -> list[HostRef]:
        async def look() -> list[HostRef]:
            records, sandboxes = await asyncio.gather(self._records.hosts(), self._sandboxes())
            names = {record.sandbox: name for name, record in records.items() if record.sandbox}
            runs = {names[each] for each in sandboxes if each in names}
            # Whose creation was cut off after Modal had heard it is known by its tag alone.
            unknown = [sandbox.get_tags.aio() for each, sandbox in sandboxes.items() if each not in names]
            runs |= {tags[HOST] for tags in await asyncio.gather(*unknown) if HOST in tags}
            stopped = sorted(records.keys() - runs)
            reasons = await asyncio.gather(*(why_it_ended(records[name].sandbox) for name in stopped))
            return [HostRef(name, self.name) for name in sorted(runs)] + [
                HostRef(name, self.name, HostState.STOPPED, why)
                for name, why in zip(stopped, reasons, strict=True)
            ]

        return self._ask("cannot list sandboxes", look())

    def stop(self, name: str) -> None:
        async def stop() -> None:
            sandbox = await self._running(name)
            if sandbox is None:
                return
            image = await sandbox.snapshot_filesystem.aio(timeout=int(_SNAPSHOT_S), ttl=_STOPPED_KEPT_S)
            record = await self._records.host(name)
            if record:
                kept = msgspec.structs.replace(record, sandbox="", image=image.object_id)
                await self._records.put_host(name, kept)
                await forget_image(record.image)
            await sandbox.terminate.aio(wait=True)

        self._ask(f'cannot stop sandbox "{name}"', stop(), _SNAPSHOT_S + _END_S)

    def start(self, name: str) -> ModalHost:
        doing = f'cannot start sandbox "{name}"'
        sandbox = self._ask(doing, self._running(name))
        if sandbox:
            return ModalHost(name, sandbox)
        record = self._ask(doing, self._records.host(name))
        if record and record.sandbox:
            image = self._ask(doing, exit_image(record.sandbox, _SNAPSHOT_S), _SNAPSHOT_S + ASK_S)
            record = msgspec.structs.replace(record, sandbox="", image=image)
        if record is None or not record.image:
            raise LostError(
                f"{doing}: it ended by itself, and its files with it",
                hint=f"mngr destroy @{name}.modal; a snapshot or a stop keeps files",
            )
        try:
            return self._launch(record, sdk().Image.from_id(record.image), doing)
        except RefusedError:
            return self.open(name)  # another process was quicker

    def destroy(self, name: str) -> None:
        async def destroy() -> None:
            record = await self._records.host(name)
            found = await self._sandboxes({HOST: name})
            if record is None and not found:
                raise self._unknown(name, list(await self._records.hosts()))
            await asyncio.gather(*(sandbox.terminate.aio(wait=True) for sandbox in found.values()))
            await self._records.remove_host(name)
            if record:
                await forget_image(record.image)

        self._ask(f'cannot destroy sandbox "{name}"', destroy(), _END_S)

    def prepare(self, host: Host) -> None:
        if self._settings.bootstrap:
            bootstrap(host)

    def tags(self, name: str) -> dict[str, str]:
        async def find() -> dict[str, str]:
            record = await self._records.host(name)
            if record is None:
                await self._running(name)
                return {}
            # One that never ran has no agent, whatever it was meant for.
            has_run = record.is_begun or await self._sandboxes({HOST: name})
            return {key: value for key, value in record.spec.tags.items() if has_run or key != AGENT}

        return self._ask(f'cannot read the labels of "{name}"', find())

    def keep(self, host: str, snapshot: str, record: bytes) -> None:
        async def keep() -> bool:
            sandbox = await self._running(host)
            if sandbox:
                image = await sandbox.snapshot_filesystem.aio(timeout=int(_SNAPSHOT_S), ttl=None)
                return await self._records.add_snapshot(snapshot, SnapshotRecord(image.object_id, record))
            raise UnreachableError(f'sandbox "{host}" is stopped', hint=f"mngr start @{host}.modal")

        if snapshot in self.kept() or not self._ask(
            f'cannot keep sandbox "{host}"', keep(), _SNAPSHOT_S + ASK_S
        ):
            raise RefusedError(f'a snapshot "{snapshot}" is there already', hint="choose another name")

    def kept(self) -> dict[str, bytes]:
        found = self._ask("cannot list snapshots", self._records.snapshots())
        return {name: record.record for name, record in found.items()}

    def drop(self, snapshot: str) -> None:
        async def drop() -> None:
            record = await self._records.remove_snapshot(snapshot)
            if record:
                await forget_image(record.image)

        self._ask(f'cannot remove snapshot "{snapshot}"', drop())

    def _launch(self, record: HostRecord, image: Any, doing: str) -> ModalHost:
        """A new sandbox of a host whose name is ours, and its id in the record."""
        spec = record.spec

        async def launch() -> Any:
            sandbox = await sdk().Sandbox.create.aio(
                *keeper_argv(msgspec.structs.replace(spec, timeout=""), HOST_DIR),
                app=self._app,
                name=spec.name,
                image=image,
                tags={HOST: spec.name, CREATION: record.creation},
                **asked_of(spec, self._settings),
            )
            there = msgspec.structs.replace(record, sandbox=sandbox.object_id)
            await self._records.put_host(spec.name, there)
            return sandbox

        return ModalHost(spec.name, self._ask(doing, launch(), _MAKE_S), is_new=True)

    def _take_back(self, record: HostRecord) -> None:
        """Removes what a creation left: Modal may have heard it though we were cut off."""

        async def take_back() -> None:
            for sandbox in (await self._sandboxes({CREATION: record.creation})).values():
                await sandbox.terminate.aio()
            there = await self._records.host(record.spec.name)
            if there and there.creation == record.creation:
                await self._records.remove_host(record.spec.name)

        try:
            self._ask("cannot take a creation back", take_back())
        except MngrError:
            pass  # what made it fail is the better answer, and gc finds the rest

    def _image(self, spec: HostSpec) -> Any:
        if not spec.snapshot:
            return image_of(spec.image or self._settings.image, self._settings.build_args)
        known = self._ask("cannot list snapshots", self._records.snapshots())
        if spec.snapshot not in known:
            raise NotFoundError(f'no snapshot "{spec.snapshot}"', hint=did_you_mean(spec.snapshot, known))
        return sdk().Image.from_id(known[spec.snapshot].image)

    async def _running(self, name: str) -> Any:
        """The sandbox of a host while it runs, else None; NotFoundError when there is no such host."""
        record = await self._records.host(name)
        if record and record.sandbox:
            try:
                sandbox = await sdk().Sandbox.from_id.aio(record.sandbox)
            except sdk().exception.NotFoundError:
                return None
            return sandbox if sandbox.returncode is None else None
        found = await self._sandboxes({HOST: name})
        if record is None and not found:
            raise self._unknown(name, list(await self._records.hosts()))
        return next(iter(found.values()), None)

    async def _sandboxes(self, tags: dict[str, str] | None = None) -> dict[str, Any]:
        """What runs of ours, by id."""
        listed = sdk().Sandbox.list.aio(app_id=self._app.app_id, tags=tags)
        return {sandbox.object_id: sandbox async for sandbox in listed}

    def _unknown(self, name: str, known: list[str]) -> NotFoundError:
        return NotFoundError(
            f'no sandbox "{name}"', hint=did_you_mean(name, known, else_hint="see: mngr list --hosts")
        )

    @property
    def _records(self) -> Records:
        if self._records_found is None:
            self._records_found = Records(self._settings.app, self._settings.environment)
        return self._records_found

    def _ask(self, doing: str, work: Coroutine[Any, Any, T], timeout_s: float = ASK_S) -> T:
        """Awaits work, once the app is known."""

        async def ask() -> T:
            try:
                if self._app is None:
                    self._app = await sdk().App.lookup.aio(
                        self._settings.app,
                        environment_name=self._settings.environment or None,
                        create_if_missing=True,
                    )
                return await work
            finally:
                work.close()

        return call(doing, ask(), timeout_s)
