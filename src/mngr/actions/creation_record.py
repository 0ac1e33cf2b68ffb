"""What this machine asked for when it created an agent on another host, kept here and compared with what the host says.

A local agent is the same user, and its own record is enough. Any other host can change the files of its agents at any
time: what a verb does to this machine follows the creation record, and a host that says something else is refused.
"""

import os
import time
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import Struct

from mngr.actions.manager import Manager
from mngr.actions.rows import Look, Row
from mngr.errors import RefusedError
from mngr.hosts.protocol import Host, Pool, shares_files
from mngr.model.agent import AgentSpec
from mngr.model.host import HostRef, HostState
from mngr.model.ids import is_agent_id, is_valid_name
from mngr.transfer.safe_paths import show

# Name and labels change by events, the rest of a record never does.
_CHANGING = ("name", "labels", "creator", "schema")
_SHOWN = 200
# Longer than a creation takes: until then an agent that its host does not show may still come.
_CREATION_MAY_TAKE_S = 3600.0


class CreationRecord(Struct, frozen=True):
    """The record of an agent as it was written to its host, and digests of the variables it was given."""

    spec: AgentSpec
    env: dict[str, str] = {}
    salt: str = ""


def write_record(manager: Manager, host: Host, spec: AgentSpec, env: Mapping[str, str]) -> None:
    """Keeps what an agent is created with, before it can run; nothing for a host that shares our files."""
    if shares_files(host):
        return
    salt = os.urandom(16).hex() if env else ""
    digests = {name: _digest(salt, name, value) for name, value in env.items()}
    record = CreationRecord(msgspec.structs.replace(spec, creator=None), digests, salt)
    manager.local.write(_agent_path(manager, host, spec.id), msgspec.json.encode(record))


def remove_records(manager: Manager, host: Host | HostRef, agent_ids: Iterable[str]) -> None:
    """Forgets agents of a host. Twice is safe."""
    for agent_id in filter(is_agent_id, agent_ids):
        _unlink(_agent_path(manager, host, agent_id))


def copy_record_to_snapshot(manager: Manager, host: Host, agent_id: str, snapshot: str) -> None:
    """Keeps the record of an agent for a snapshot of it, which outlives the agent."""
    is_safe = is_agent_id(agent_id) and is_valid_name(snapshot)
    record = _read(_agent_path(manager, host, agent_id)) if is_safe and not shares_files(host) else None
    if record:
        path = _snapshot_path(manager, host.provider, agent_id, snapshot)
        manager.local.write(path, msgspec.json.encode(record))


def remove_snapshot_record(manager: Manager, provider: str, agent_id: str, snapshot: str) -> None:
    if is_agent_id(agent_id) and is_valid_name(snapshot):
        _unlink(_snapshot_path(manager, provider, agent_id, snapshot))


def record_of(row: Row, manager: Manager) -> CreationRecord | None:
    """What this machine kept of an agent on another host; None when it did not create it."""
    if not is_agent_id(row.agent.id):
        return None
    return _read(_agent_path(manager, row.host, row.agent.id))


def record_of_snapshot(
    manager: Manager, provider: str, agent_id: str, snapshot: str
) -> CreationRecord | None:
    """What this machine kept of the agent that a snapshot was taken of; None when it did not create both."""
    if not is_agent_id(agent_id) or not is_valid_name(snapshot):
        return None
    return _read(_snapshot_path(manager, provider, agent_id, snapshot))


def verified_spec(row: Row, manager: Manager) -> AgentSpec | None:
    """What the agent was created with; None when this machine did not create it and the host's word is all there is.

    Raises RefusedError, with the field, when the host says something else.
    """
    if shares_files(row.host):
        return row.spec
    record = record_of(row, manager)
    if record is None:
        return None
    why = difference(record.spec, row.spec, row.host.name)
    if why:
        raise RefusedError(
            f'"{show(row.agent.name)}" is not what was created: {why}',
            hint=f"mngr destroy {row.agent.id} removes what is on its host, and nothing here",
        )
    return msgspec.structs.replace(record.spec, name=row.agent.name, labels=row.agent.labels)


def difference(asked: AgentSpec, reported: AgentSpec, host: str) -> str:
    """The fields in which a host contradicts what was asked for, with both values; empty when none does."""
    fields = [field for field in AgentSpec.__struct_fields__ if field not in _CHANGING]
    found = [
        f"{field} is {_shown(getattr(reported, field))}, not {_shown(getattr(asked, field))}"
        for field in fields
        if getattr(reported, field) != getattr(asked, field)
    ]
    return f"{host} says that {'; '.join(found)}" if found else ""


def unverified(row: Row) -> str:
    """What to tell a person about an agent that this machine has no record of."""
    return f'"{show(row.agent.name)}" was not created from here: what {row.host.name} says of it cannot be verified'


def verified_env(record: CreationRecord, env: Mapping[str, str], host: str) -> dict[str, str]:
    """The variables that an agent was given when it was created; what the host added is left out."""
    for name, value in env.items():
        if name in record.env and _digest(record.salt, name, value) != record.env[name]:
            raise RefusedError(
                f"{host} says another value of the variable {show(name)} than it was created with",
                hint="create the agent anew, with --env",
            )
    return {name: value for name, value in env.items() if name in record.env}


def shown_command(argv: Sequence[str]) -> str:
    """A command from a host, quoted for a shell and safe to look at."""
    from shlex import join  # on the way out of an error

    return show(join(argv))[:_SHOWN]


def drop_stale_records(manager: Manager, looks: Sequence[Look]) -> None:
    """Forgets agents that their hosts, which answered, have not had for an hour, and those of hosts that are gone."""
    silent = {look.ref.provider for look in looks if look.warning}
    answered = {
        (look.ref.provider, look.ref.name): {row.agent.id for row in look.rows}
        for look in looks
        if look.ref.state == HostState.RUNNING and not look.warning
    }
    listed = {(look.ref.provider, look.ref.name) for look in looks}
    used = manager.used_providers()
    for provider in _names(_folder(manager)):
        if provider in silent or provider not in used:
            continue
        # Machines that are there already are not gone when no config names them any more.
        makes_hosts = not isinstance(manager.provider(provider), Pool)
        for name in _names(f"{_folder(manager)}/{provider}"):
            agent_id, at, host = name.removesuffix(".json").partition("@")
            if not at:
                continue
            path = f"{_folder(manager)}/{provider}/{name}"
            try:
                is_fresh = time.time() - os.stat(path).st_mtime < _CREATION_MAY_TAKE_S
            except OSError:
                continue
            if is_fresh:
                continue
            is_gone = makes_hosts and (provider, host) not in listed
            if is_gone or agent_id not in answered.get((provider, host), {agent_id}):
                _unlink(path)


def _folder(manager: Manager) -> str:
    return f"{manager.host_dir}/created"


def _agent_path(manager: Manager, host: Host | HostRef, agent_id: str) -> str:
    return f"{_folder(manager)}/{host.provider}/{agent_id}@{host.name}.json"


def _snapshot_path(manager: Manager, provider: str, agent_id: str, snapshot: str) -> str:
    """Without the host: a snapshot in an image comes up on a host of another name."""
    return f"{_folder(manager)}/{provider}/{agent_id}.{snapshot}.json"


def _read(path: str) -> CreationRecord | None:
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(), type=CreationRecord)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        # Not the same as none: then less would be checked.
        raise RefusedError(
            f"the creation record {path} cannot be read: {error}",
            hint="put it back; without it (rm), what the host says of the agent cannot be verified",
        ) from None


def _digest(salt: str, name: str, value: str) -> str:
    from hashlib import sha256  # loads OpenSSL, 13 ms: only an agent on another host with variables needs it

    return sha256(f"{salt}\0{name}\0{value}".encode("utf-8", "surrogateescape")).hexdigest()


def _shown(value: object) -> str:
    text = shown_command(value) if isinstance(value, tuple) else str(value)
    return f'"{show(text)[:_SHOWN]}"'


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
