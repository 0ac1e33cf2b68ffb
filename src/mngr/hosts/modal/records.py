"""What is known of sandboxes that do not run, and of snapshots: a `modal.Dict` named like the app.

Modal lists only sandboxes that run, and the size of a tag is not documented. So the records of hosts are entries of a
dictionary at Modal, which all users of the workspace see, and a name belongs to the first who writes it.
Modal forgets an entry that is not read or written for seven days.
"""

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from mngr.hosts.modal.call import sdk
from mngr.model.host import HostSpec
from mngr.store.untrusted import decode

_HOST, _SNAPSHOT = "host/", "snapshot/"


class HostRecord(Struct, frozen=True):
    """A host, from before its first sandbox until it is destroyed."""

    spec: HostSpec
    creation: str
    sandbox: str = ""
    """The id of its last sandbox."""
    image: str = ""
    """Its files as they were when it was last stopped."""
    task: str = ""
    """The id of that sandbox's task: who knows it makes one call less."""
    has_exit_snapshot: bool = False
    """Whether Modal keeps that sandbox's files when it ends."""

    @property
    def has_started(self) -> bool:
        return bool(self.sandbox or self.image)


class SnapshotRecord(Struct, frozen=True):
    image: str
    record: bytes


R = TypeVar("R", HostRecord, SnapshotRecord)


class HostRecords:
    """The dictionary. Everything here is to be awaited."""

    def __init__(self, app: str, environment: str) -> None:
        self._dict: Any = sdk().Dict.from_name(
            app, environment_name=environment or None, create_if_missing=True
        )

    async def host(self, name: str) -> HostRecord | None:
        return _decoded(await self._dict.get.aio(_HOST + name), HostRecord)

    async def hosts(self) -> dict[str, HostRecord]:
        return await self._all(_HOST, HostRecord)

    async def add_host(self, name: str, record: HostRecord) -> bool:
        """Takes a name; False when it is taken."""
        return bool(await self._dict.put.aio(_HOST + name, msgspec.json.encode(record), skip_if_exists=True))

    async def put_host(self, name: str, record: HostRecord) -> None:
        await self._dict.put.aio(_HOST + name, msgspec.json.encode(record))

    async def remove_host(self, name: str) -> None:
        await self._dict.pop.aio(_HOST + name, None)

    async def snapshots(self) -> dict[str, SnapshotRecord]:
        return await self._all(_SNAPSHOT, SnapshotRecord)

    async def add_snapshot(self, name: str, record: SnapshotRecord) -> bool:
        return bool(
            await self._dict.put.aio(_SNAPSHOT + name, msgspec.json.encode(record), skip_if_exists=True)
        )

    async def remove_snapshot(self, name: str) -> SnapshotRecord | None:
        return _decoded(await self._dict.pop.aio(_SNAPSHOT + name, None), SnapshotRecord)

    async def _all(self, prefix: str, kind: type[R]) -> dict[str, R]:
        found: dict[str, R] = {}
        async for key, value in self._dict.items.aio():
            record = _decoded(value, kind) if isinstance(key, str) and key.startswith(prefix) else None
            if record:
                found[key.removeprefix(prefix)] = record
        return found


def _decoded(value: object, kind: type[R]) -> R | None:
    """The record; None where there is none, or another program wrote something else."""
    return decode(value, kind) if isinstance(value, bytes) else None
