"""Which sandboxes run: as Modal lists them, as the records name them, and the handles that are kept of them."""

import asyncio
from typing import Any

from msgspec import Struct

from mngr.hosts.labels import AGENT
from mngr.hosts.modal.call import sdk
from mngr.hosts.modal.records import HostRecord
from mngr.hosts.modal.sandbox import task_of, tell_task, why_it_ended
from mngr.hosts.modal.settings import ModalSettings
from mngr.model.host import HostState

HOST, CREATION = "mngr-host", "mngr-creation"
_UNKNOWN = "Modal does not know it any more"


class ModalHostStatus(Struct, frozen=True):
    """A host: its record, its sandbox while that runs, and why it does not."""

    record: HostRecord | None = None
    sandbox: Any = None
    why: str = ""

    @property
    def state(self) -> HostState:
        return HostState.STOPPED if self.sandbox is None else HostState.RUNNING

    @property
    def tags(self) -> dict[str, str]:
        """What the host was made with; one that never ran has no agent, whatever it was meant for."""
        if self.record is None:
            return {}
        has_run = self.record.has_started or self.sandbox is not None
        return {key: value for key, value in self.record.spec.tags.items() if has_run or key != AGENT}


class Sandboxes:
    """Handles by id. Each holds the connection to its sandbox, so there is one for the life of the process."""

    def __init__(self) -> None:
        self._handles: dict[str, Any] = {}
        self._ended: dict[str, str] = {}

    def keep(self, sandbox: Any) -> str:
        """Keeps a handle; returns the id of its task where that is known."""
        self._handles[sandbox.object_id] = sandbox
        return task_of(sandbox)

    def forget(self, sandbox: Any) -> None:
        self._handles.pop(sandbox.object_id, None)

    async def listed(self, app_id: str, tags: dict[str, str] | None = None) -> dict[str, Any]:
        """What runs of ours as far as Modal lists it, by id."""
        found: dict[str, Any] = {}
        async for sandbox in sdk().Sandbox.list.aio(app_id=app_id, tags=tags):
            if sandbox.returncode is None:
                found[sandbox.object_id] = self._handles.setdefault(sandbox.object_id, sandbox)
        return found

    async def by_id(self, id: str, task: str = "") -> ModalHostStatus:
        """A sandbox that a record names, while it runs; else why it ended."""
        if id in self._ended:
            return ModalHostStatus(why=self._ended[id])
        try:
            known = self._handles.get(id)
            if known is not None:
                await known.poll.aio()
            sandbox = known or await sdk().Sandbox.from_id.aio(id)
        except sdk().exception.NotFoundError:
            return ModalHostStatus(why=_UNKNOWN)
        if sandbox.returncode is None:
            tell_task(sandbox, task)
            return ModalHostStatus(sandbox=self._handles.setdefault(id, sandbox))
        self._handles.pop(id, None)
        self._ended[id] = why_it_ended(sandbox)
        return ModalHostStatus(why=self._ended[id])

    async def seen(
        self, records: dict[str, HostRecord], listed: dict[str, Any]
    ) -> dict[str, ModalHostStatus]:
        """All hosts. One whose sandbox is not listed is asked for by its id before it is called stopped."""
        names = {record.sandbox: name for name, record in records.items() if record.sandbox}
        found: dict[str, ModalHostStatus] = {}
        for id, sandbox in listed.items():
            if id in names:
                record = records[names[id]]
                tell_task(sandbox, record.task)
                found[names[id]] = ModalHostStatus(record, sandbox)
        # Whose creation was cut off after Modal had heard it is known by its tag alone.
        strangers = [sandbox for id, sandbox in listed.items() if id not in names]
        for sandbox, tags in zip(
            strangers, await asyncio.gather(*(each.get_tags.aio() for each in strangers)), strict=True
        ):
            if HOST in tags:
                found.setdefault(tags[HOST], ModalHostStatus(records.get(tags[HOST]), sandbox))
        missing = [name for name in records if name not in found]
        asked = await asyncio.gather(*(self._asked(records[name]) for name in missing))
        return found | dict(zip(missing, asked, strict=True))

    async def of_host(
        self, name: str, record: HostRecord | None, app: Any, settings: ModalSettings
    ) -> list[Any]:
        """Every sandbox of a host that may run: those listed, the one its record names, the one that has its name."""
        error: Exception | None = None
        try:
            found = await self.listed(app.app_id, {HOST: name})
        except sdk().exception.Error as problem:
            found, error = {}, problem
        if record and record.sandbox and record.sandbox not in found:
            seen = await self.by_id(record.sandbox)
            if seen.sandbox:
                found[record.sandbox] = seen.sandbox
        elif error:
            raise error
        if record and not record.has_started and not found:
            named = await self._by_name(name, settings)
            found |= {named.object_id: named} if named else {}
        return list(found.values())

    async def of_creation(self, record: HostRecord, app: Any, settings: ModalSettings) -> list[Any]:
        """What a creation made, listed or not."""
        found = await self.listed(app.app_id, {CREATION: record.creation})
        if not found:
            named = await self._by_name(record.spec.name, settings)
            if named and (await named.get_tags.aio()).get(CREATION) == record.creation:
                return [named]
        return list(found.values())

    async def _asked(self, record: HostRecord) -> ModalHostStatus:
        if not record.sandbox:
            return ModalHostStatus(record)
        seen = await self.by_id(record.sandbox, record.task)
        return ModalHostStatus(record, seen.sandbox, seen.why)

    async def _by_name(self, name: str, settings: ModalSettings) -> Any:
        try:
            return await sdk().Sandbox.from_name.aio(
                settings.app, name, environment_name=settings.environment or None
            )
        except sdk().exception.NotFoundError:
            return None
