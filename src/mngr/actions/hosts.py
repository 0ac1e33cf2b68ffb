"""Hosts as targets: `@box.docker` means the host with all its agents, to stop, start and destroy."""

import msgspec

from mngr.actions.destroy import destroy_rows, is_settled
from mngr.actions.host_notes import note_settled, remember, remembered
from mngr.actions.manager import Manager, default_manager
from mngr.actions.remote_listing import look_at_all
from mngr.actions.rows import ACT_S, Look
from mngr.actions.start_hosts import start_again
from mngr.actions.stop import GRACE_S, stop_rows
from mngr.errors import MngrError, NotFoundError, UsageError
from mngr.hosts.protocol import Startable, StartsAnew
from mngr.model.agent import Agent, Change
from mngr.model.host import HostRef, HostState


def stop_host(target: str, *, grace_s: float = GRACE_S, manager: Manager | None = None) -> list[Change]:
    """Stops a host's agents, then the host itself; its files stay. Refused where it could not be started again."""
    manager = default_manager(manager)
    look = _look(target, manager)
    provider = manager.provider(look.ref.provider)
    if not isinstance(provider, Startable):
        raise UsageError(
            f'"{look.ref.name}" is not mngr\'s to stop',
            hint=f"stop its agents: mngr stop --host {look.ref.name}",
        )
    stopped = {change.agent.id: change for change in stop_rows(look.rows, grace_s=grace_s, manager=manager)}
    if look.rows:
        remember(manager, look.ref, tuple(change.agent for change in stopped.values()))
    if isinstance(provider, StartsAnew) and provider.starts_anew:
        note_settled(manager, look.ref, [row.agent.id for row in look.rows if is_settled(row, manager)])
    provider.stop(look.ref.name)
    ref = msgspec.structs.replace(look.ref, state=HostState.STOPPED)
    return [
        Change(agent, changed=agent.id in stopped and stopped[agent.id].changed)
        for agent in remembered(manager, ref)
    ]


def start_host(target: str, *, manager: Manager | None = None) -> list[Agent]:
    """Starts a stopped host; its agents are as they were when it was stopped."""
    manager = default_manager(manager)
    ref = _find(target, manager)
    start_again(ref, manager)
    return [row.agent for row in _look(target, manager).rows]


def destroy_host(
    target: str, *, discard_unreadable: bool = False, manager: Manager | None = None
) -> list[Change | MngrError]:
    """Removes a host's agents, then the host with all that is on it; a machine of a pool is only forgotten."""
    manager = default_manager(manager)
    look = _look(target, manager)
    if look.ref.provider == "local":
        raise UsageError("this machine is not mngr's to destroy", hint="destroy agents by name")
    results = destroy_rows(look.rows, discard_unreadable=discard_unreadable, manager=manager)
    if not any(isinstance(result, MngrError) for result in results):
        provider = manager.provider(look.ref.provider)
        if any(
            ref.name == look.ref.name for ref in provider.hosts()
        ):  # its last agent may have taken it along
            provider.destroy(look.ref.name)
    return results


def _find(target: str, manager: Manager) -> HostRef:
    address = manager.address(target)
    provider = address.provider or manager.provider_of(address.host)
    for ref in manager.provider(provider).hosts():
        if ref.name == address.host:
            return ref
    raise NotFoundError(f'no host "{target}"', hint="see: mngr list --hosts")


def _look(target: str, manager: Manager) -> Look:
    ref = _find(target, manager)
    look = look_at_all(manager, (ref.provider,), ref.name, is_asked_for=True, deadline_s=ACT_S)[0]
    if look.warning:
        raise MngrError(look.warning, hint="see: mngr list --hosts")
    return look
