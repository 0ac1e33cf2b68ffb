"""Snapshots in images of whole hosts, where the provider keeps such; they outlive the host they were taken of."""

import msgspec
from msgspec import Struct

from mngr.actions.manager import Manager
from mngr.actions.rows import Row
from mngr.actions.snapshots.checkpoint import Snapshot
from mngr.errors import MngrError, UnreachableError
from mngr.hosts.protocol import Snapshots
from mngr.model.agent import AgentSpec
from mngr.store.untrusted import decode


class ImageRecord(Struct, frozen=True):
    """What is written on an image: the checkpoint in it, and the agent it was taken of."""

    snapshot: Snapshot
    agent: AgentSpec


def keep_host(row: Row, snapshot: Snapshot, manager: Manager) -> None:
    """Keeps the host of an agent with the checkpoint in it; does nothing where the provider keeps no hosts."""
    provider = manager.provider(row.host.provider)
    if isinstance(provider, Snapshots):
        provider.keep(row.host.name, snapshot.name, msgspec.json.encode(ImageRecord(snapshot, row.spec)))


def kept_hosts(manager: Manager) -> list[tuple[Snapshot, Snapshots]]:
    """Snapshots in images, and who keeps them. A provider that does not answer costs a warning."""
    found: list[tuple[Snapshot, Snapshots]] = []
    for name in manager.used_providers():
        provider = manager.provider(name)
        if not isinstance(provider, Snapshots):
            continue
        try:
            found += [(read_record(record).snapshot, provider) for record in provider.kept().values()]
        except (UnreachableError, UnreadableRecordError) as error:
            manager.warn(error.message)
    return found


class UnreadableRecordError(MngrError):
    """An image bears a record that this version cannot read."""


def read_record(record: bytes) -> ImageRecord:
    found = decode(record, ImageRecord)
    if found is None:
        raise UnreadableRecordError(
            "the record of a snapshot is unreadable", hint="was it made by a newer mngr?"
        )
    return found
