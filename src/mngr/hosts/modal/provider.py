"""The provider `modal`: sandboxes made, found and ended with Modal's SDK, which knows who you are.

A sandbox cannot be stopped and started again, so to stop one is to snapshot its files and end it, and to start it is to
make another from that snapshot. What the record of a host names is asked for by its id: Modal's list of sandboxes may
be late, and leaves out some of those that were made at the same moment.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

import msgspec

from mngr.errors import LostError, MngrError, NotFoundError, RefusedError, UnreachableError, did_you_mean
from mngr.hosts.bootstrap import bootstrap
from mngr.hosts.container import HOST_DIR
from mngr.hosts.modal.call import ASK_S, CLEAN_UP_S, CONTACT_S, call, sdk
from mngr.hosts.modal.host import ModalHost
from mngr.hosts.modal.image import image_of
from mngr.hosts.modal.notices import listen
from mngr.hosts.modal.rate import Rate, with_back_off
from mngr.hosts.modal.records import HostRecord, HostRecords, SnapshotRecord
from mngr.hosts.modal.sandbox import asked_of, exit_image, forget_image
from mngr.hosts.modal.sandboxes import CREATION, HOST, ModalHostStatus, Sandboxes
from mngr.hosts.modal.settings import ModalSettings, read_settings
from mngr.hosts.protocol import Host
from mngr.hosts.watchdog import watchdog_argv
from mngr.model.host import HostRef, HostSpec
from mngr.model.ids import check_name, random_name

T = TypeVar("T")

_MAKE_S = 1800.0
_SNAPSHOT_S = 600.0
_END_S = 60.0
_STOPPED_KEPT_S = 30 * 24 * 3600
# For so long what a listing said of a host is believed, and once it is opened by it without asking again; a command on
# one that ended meanwhile says so itself.
_FRESH_S = 30.0
# For so long after Modal fell silent only a little time is spent on cleaning up there.
_SILENT_S = 30.0


class ModalProvider:
    """Sandboxes of one app. Each has one connection, kept as long as the process lives."""

    name = "modal"
    starts_anew = True
    options = frozenset({"image", "cpus", "memory", "offline", "snapshot", "timeout", "lease"})

    def __init__(self, _host_dir: str) -> None:
        """It keeps nothing on this machine."""
        self._settings = ModalSettings()
        self._rate = Rate(self._settings.create_rate)
        self._app: Any = None
        self._records_found: HostRecords | None = None
        self._seen: dict[str, ModalHostStatus] = {}
        self._opened: set[str] = set()
        self._seen_at = self._silent_at = float("-inf")
        self._sandboxes = Sandboxes()
        self._contact_lock = threading.Lock()

    def configure(self, settings: Mapping[str, Any]) -> None:
        self._settings = read_settings(settings)
        self._rate = Rate(self._settings.create_rate)
        # With exit snapshots a host that was idle has its files when it is started again.
        self.options = type(self).options | ({"idle_timeout"} if self._settings.exit_snapshots else set())

    def load(self) -> None:
        sdk()

    def warn_by(self, warn: Callable[[str], None]) -> None:
        listen(warn)

    def create(self, spec: HostSpec) -> ModalHost:
        name = check_name(spec.name or random_name(), "host name")
        record = HostRecord(msgspec.structs.replace(spec, name=name), os.urandom(8).hex())
        doing = f'cannot make sandbox "{name}"'
        asked_of(spec, self._settings)  # what Modal would refuse is refused before anything is made
        image = self._image(spec)
        self._contact(doing)
        self._rate.wait()
        try:
            if not self._ask(doing, lambda: self._records.add_host(name, record)):
                raise RefusedError(f'there is a sandbox "{name}" already', hint="choose another name")
            return self._launch(record, image, doing)
        except BaseException:
            self._take_back(record)
            raise

    def open(self, name: str) -> ModalHost:
        seen = self._just_seen(name)
        if seen and seen.sandbox and name not in self._opened:
            self._opened.add(name)
            return ModalHost(name, seen.sandbox)
        sandbox = self._ask(f'cannot find sandbox "{name}"', lambda: self._running(name))
        if sandbox is None:
            raise UnreachableError(
                f'sandbox "{name}" is stopped', hint="starting one of its agents starts it again"
            )
        return ModalHost(name, sandbox)

    def hosts(self) -> list[HostRef]:
        async def look() -> dict[str, ModalHostStatus]:
            records, listed = await asyncio.gather(
                self._records.hosts(), self._sandboxes.listed(self._app.app_id)
            )
            return await self._sandboxes.seen(records, listed)

        self._seen = self._ask("cannot list sandboxes", look)
        self._seen_at, self._opened = time.monotonic(), set()
        found = sorted(self._seen.items(), key=lambda item: (item[1].sandbox is None, item[0]))
        return [HostRef(name, self.name, seen.state, seen.why) for name, seen in found]

    def stop(self, name: str) -> None:
        async def stop() -> None:
            sandbox = await self._running(name)
            if sandbox is None:
                return
            image = await sandbox.snapshot_filesystem.aio(timeout=int(_SNAPSHOT_S), ttl=_STOPPED_KEPT_S)
            record = await self._records.host(name)
            if record:
                kept = msgspec.structs.replace(record, sandbox="", task="", image=image.object_id)
                await self._records.put_host(name, kept)
                await forget_image(record.image)
            await self._end(sandbox, record)

        self._seen.pop(name, None)
        self._ask(f'cannot stop sandbox "{name}"', stop, _SNAPSHOT_S + _END_S)

    def start(self, name: str) -> ModalHost:
        doing = f'cannot start sandbox "{name}"'
        self._seen.pop(name, None)
        sandbox = self._ask(doing, lambda: self._running(name))
        if sandbox:
            return ModalHost(name, sandbox)
        record = self._ask(doing, lambda: self._records.host(name))
        stopped_image = record.image if record else ""
        if record and record.sandbox and self._keeps_files(record):
            ended = record.sandbox
            image = self._ask(doing, lambda: exit_image(ended, _SNAPSHOT_S), _SNAPSHOT_S + ASK_S)
            record = msgspec.structs.replace(record, sandbox="", image=image)
        if record is None or not record.image or record.sandbox:
            raise LostError(
                f"{doing}: it ended by itself, and its files with it",
                hint=f"mngr destroy @{name}.modal; a snapshot or a stop keeps files",
            )
        try:
            host = self._launch(record, sdk().Image.from_id(record.image), doing)
        except RefusedError:
            return self.open(name)  # another process was quicker
        except NotFoundError:
            raise LostError(
                f"{doing}: the snapshot of its files has expired, or was removed",
                hint=f"mngr destroy @{name}.modal; Modal keeps the files of a stopped sandbox for 30 days",
            ) from None
        if stopped_image != record.image:
            self._ask(doing, lambda: forget_image(stopped_image))
        return host

    def destroy(self, name: str) -> None:
        async def destroy() -> None:
            record = await self._records.host(name)
            found = await self._sandboxes.of_host(name, record, self._app, self._settings)
            if record is None and not found:
                raise self._unknown(name, list(await self._records.hosts()))
            await asyncio.gather(*(self._end(sandbox, record) for sandbox in found))
            if record and record.sandbox and not found and self._keeps_files(record):
                await forget_image(await exit_image(record.sandbox, ASK_S))
            await self._records.remove_host(name)
            if record:
                await forget_image(record.image)

        self._seen.pop(name, None)
        self._ask(f'cannot destroy sandbox "{name}"', destroy, self._clean_up_s(_END_S))

    def prepare(self, host: Host) -> None:
        if self._settings.bootstrap:
            bootstrap(host)

    def tags(self, name: str) -> dict[str, str]:
        async def find() -> ModalHostStatus:
            record = await self._records.host(name)
            if record is None:
                return ModalHostStatus(sandbox=await self._running(name))
            found = {} if record.has_started else await self._sandboxes.listed(self._app.app_id, {HOST: name})
            return ModalHostStatus(record, next(iter(found.values()), None))

        seen = self._just_seen(name) or self._ask(f'cannot read the labels of "{name}"', find)
        return seen.tags

    def listed_tags(self) -> dict[str, dict[str, str]]:
        return {name: seen.tags for name, seen in self._seen.items()}

    def keep(self, host: str, snapshot: str, record: bytes) -> None:
        async def keep() -> bool:
            sandbox = await self._running(host)
            if sandbox:
                image = await sandbox.snapshot_filesystem.aio(timeout=int(_SNAPSHOT_S), ttl=None)
                return await self._records.add_snapshot(snapshot, SnapshotRecord(image.object_id, record))
            raise UnreachableError(f'sandbox "{host}" is stopped', hint=f"mngr start @{host}.modal")

        if snapshot in self.kept() or not self._ask(
            f'cannot keep sandbox "{host}"', keep, _SNAPSHOT_S + ASK_S
        ):
            raise RefusedError(f'a snapshot "{snapshot}" is there already', hint="choose another name")

    def kept(self) -> dict[str, bytes]:
        found = self._ask("cannot list snapshots", lambda: self._records.snapshots())
        return {name: record.record for name, record in found.items()}

    def drop(self, snapshot: str) -> None:
        async def drop() -> None:
            record = await self._records.remove_snapshot(snapshot)
            if record:
                await forget_image(record.image)

        self._ask(f'cannot remove snapshot "{snapshot}"', drop)

    def _launch(self, record: HostRecord, image: Any, doing: str) -> ModalHost:
        """A new sandbox of a host whose name is ours, and its id in the record."""
        spec = record.spec

        async def launch() -> Any:
            sandbox = await sdk().Sandbox.create.aio(
                *watchdog_argv(msgspec.structs.replace(spec, timeout=""), HOST_DIR),
                app=self._app,
                name=spec.name,
                image=image,
                tags={HOST: spec.name, CREATION: record.creation},
                **asked_of(spec, self._settings),
            )
            there = msgspec.structs.replace(
                record,
                sandbox=sandbox.object_id,
                task=self._sandboxes.keep(sandbox),
                has_exit_snapshot=self._settings.exit_snapshots,
            )
            await self._records.put_host(spec.name, there)
            return sandbox

        return ModalHost(spec.name, self._ask(doing, launch, _MAKE_S, watches=True), is_new=True)

    async def _end(self, sandbox: Any, record: HostRecord | None) -> None:
        """Ends a sandbox; what Modal keeps of its files then is released: it could not be found again."""
        self._sandboxes.forget(sandbox)
        await sandbox.terminate.aio(wait=True)
        if self._keeps_files(record):
            await forget_image(await exit_image(sandbox.object_id, ASK_S))

    def _keeps_files(self, record: HostRecord | None) -> bool:
        return self._settings.exit_snapshots or (record is not None and record.has_exit_snapshot)

    def _take_back(self, record: HostRecord) -> None:
        """Removes what a creation left: Modal may have heard it though we were cut off."""

        async def take_back() -> None:
            for sandbox in await self._sandboxes.of_creation(record, self._app, self._settings):
                await self._end(sandbox, None)
            there = await self._records.host(record.spec.name)
            if there and there.creation == record.creation:
                await self._records.remove_host(record.spec.name)

        try:
            self._ask("cannot take a creation back", take_back, self._clean_up_s(ASK_S))
        except MngrError:
            pass  # what made it fail is the better answer, and gc finds the rest

    def _image(self, spec: HostSpec) -> Any:
        if not spec.snapshot:
            return image_of(spec.image or self._settings.image, self._settings.build_args)
        known = self._ask("cannot list snapshots", lambda: self._records.snapshots())
        if spec.snapshot not in known:
            raise NotFoundError(f'no snapshot "{spec.snapshot}"', hint=did_you_mean(spec.snapshot, known))
        return sdk().Image.from_id(known[spec.snapshot].image)

    async def _running(self, name: str) -> Any:
        """The sandbox of a host while it runs, else None; NotFoundError when there is no such host."""
        record = await self._records.host(name)
        if record and record.sandbox:
            return (await self._sandboxes.by_id(record.sandbox, record.task)).sandbox
        found = await self._sandboxes.listed(self._app.app_id, {HOST: name})
        if record is None and not found:
            raise self._unknown(name, list(await self._records.hosts()))
        return next(iter(found.values()), None)

    def _just_seen(self, name: str) -> ModalHostStatus | None:
        return self._seen.get(name) if time.monotonic() - self._seen_at < _FRESH_S else None

    def _unknown(self, name: str, known: list[str]) -> NotFoundError:
        return NotFoundError(
            f'no sandbox "{name}"', hint=did_you_mean(name, known, else_hint="see: mngr list --hosts")
        )

    @property
    def _records(self) -> HostRecords:
        if self._records_found is None:
            self._records_found = HostRecords(self._settings.app, self._settings.environment)
        return self._records_found

    def _clean_up_s(self, full_s: float) -> float:
        return CLEAN_UP_S if time.monotonic() - self._silent_at < _SILENT_S else full_s

    def _contact(self, doing: str) -> None:
        """Finds the app, once: the first call of a process tells soon whether Modal is there."""

        async def lookup() -> Any:
            return await sdk().App.lookup.aio(
                self._settings.app,
                environment_name=self._settings.environment or None,
                create_if_missing=True,
            )

        with self._contact_lock:
            if self._app is None:
                self._app = self._noticing(lambda: call(doing, lookup(), self._clean_up_s(CONTACT_S)))

    def _ask(
        self,
        doing: str,
        work: Callable[[], Coroutine[Any, Any, T]],
        timeout_s: float = ASK_S,
        *,
        watches: bool = False,
    ) -> T:
        """Awaits work, once the app is known; a refusal for lack of capacity is tried again after a pause."""
        self._contact(doing)
        return self._noticing(lambda: with_back_off(lambda: call(doing, work(), timeout_s, watches=watches)))

    def _noticing(self, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except UnreachableError:
            self._silent_at = time.monotonic()
            raise
