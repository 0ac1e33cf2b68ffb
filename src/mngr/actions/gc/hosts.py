"""Hosts without an owner: being made by a process that is gone, or left by their last agent.

Only hosts that their provider makes for agents count, and only where its listing worked.
"""

import os
import time
from collections.abc import Iterator, Sequence

from mngr.actions.host_notes import creator_of, forget, forget_creation, noted_creations, remembered
from mngr.actions.manager import Manager
from mngr.actions.owner import is_left_alone
from mngr.actions.rows import Look, is_alive, is_ours
from mngr.errors import MngrError
from mngr.hosts.labels import creator_in, spec_of
from mngr.hosts.protocol import Labelled, Pool
from mngr.model.host import HostRef, HostState
from mngr.sh.program import READ_AND_RUN, encode, quote
from mngr.store.paths import HostPaths

INTERRUPTED = "its creation was interrupted"
ABANDONED = "the process that it belonged to is gone"
LEFT = "its last agent has been gone for ten minutes"
_LEFT_MIN = 10
_CREATION_MAY_TAKE_S = 3600.0


def unused_hosts(manager: Manager, looks: Sequence[Look]) -> Iterator[tuple[HostRef, str]]:
    """Hosts that no agent needs, each with the reason."""
    for look in looks:
        ref = look.ref
        if ref.state == HostState.STOPPED and look.known and all(map(is_left_alone, look.known)):
            yield ref, ABANDONED
            continue
        if look.rows and _is_given_up(manager, ref) and _is_uncleared(manager, look):
            yield ref, INTERRUPTED
            continue
        # What we saw on it counts, not the label that it was made with.
        if look.warning or look.rows or remembered(manager, ref):
            continue
        if ref.provider == "local" or isinstance(manager.provider(ref.provider), Pool):
            continue
        if _is_given_up(manager, ref) or _is_labelled_in_vain(manager, ref):
            yield ref, INTERRUPTED
        elif ref.state == HostState.RUNNING and _is_left(manager, ref):
            yield ref, LEFT


def remove_host(manager: Manager, ref: HostRef) -> None:
    """Ends a host with all that is on it, and forgets it."""
    manager.provider(ref.provider).destroy(ref.name)
    forget_creation(manager, ref)
    forget(manager, ref)


def drop_stale_notes(manager: Manager, looks: Sequence[Look]) -> None:
    """Forgets creations that were given up before there was a host."""
    silent = {look.ref.provider for look in looks if look.warning}
    there = {(look.ref.provider, look.ref.name) for look in looks}
    for ref in noted_creations(manager):
        if (
            ref.provider not in silent
            and (ref.provider, ref.name) not in there
            and _is_given_up(manager, ref)
        ):
            forget_creation(manager, ref)


def _is_given_up(manager: Manager, ref: HostRef) -> bool:
    creator = creator_of(manager, ref)
    if creator is None or creator.machine != os.uname().nodename:
        return False
    return not (is_ours(creator) and is_alive(creator))


def _is_uncleared(manager: Manager, look: Look) -> bool:
    """Whether all agents there are those of the snapshot that it was made from: older than the host, and none lives."""
    provider = manager.provider(look.ref.provider)
    try:
        own = spec_of(provider.tags(look.ref.name)) if isinstance(provider, Labelled) else None
    except MngrError:
        return False
    if own is None:
        return False
    for row in look.rows:
        spec = row.evidence.spec
        is_running = row.evidence.alive or row.evidence.pane is not None
        if spec is None or spec.created_at >= own.created_at or is_running:
            return False
    return True


def _is_labelled_in_vain(manager: Manager, ref: HostRef) -> bool:
    """Whether the process that made it, wherever it ran (its labels say so), is gone and no agent ever came."""
    provider = manager.provider(ref.provider)
    if not isinstance(provider, Labelled):
        return False
    try:
        tags = provider.tags(ref.name)
        creator, spec = creator_in(tags), spec_of(tags)
        if creator is None or (spec is not None and ref.state != HostState.RUNNING):
            return False
        if creator.machine == os.uname().nodename:
            is_gone = not (is_ours(creator) and is_alive(creator))
        else:
            is_gone = spec is not None and time.time() - spec.created_at > _CREATION_MAY_TAKE_S
        if not is_gone or spec is None:
            return is_gone
        host = provider.open(ref.name)
        return host.run(("test", "-e", HostPaths(host.dir).agents)).code == 1
    except MngrError:
        return False


def _is_left(manager: Manager, ref: HostRef) -> bool:
    """Whether agents were there, none is, and the last went a while ago by the host's own clock."""
    try:
        host = manager.provider(ref.provider).open(ref.name)
        paths = HostPaths(host.dir)
        find = f"find {quote(paths.agents)} {quote(paths.names)} -prune -mmin +{_LEFT_MIN} -print"
        done = host.run(
            READ_AND_RUN, stdin=encode(f"[ -d {quote(paths.agents)} ] && {find} 2>/dev/null\nexit 0\n")
        )
    except MngrError:
        return False
    return len(done.text.split("\n")) > 2
