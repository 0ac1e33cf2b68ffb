"""The host of a creation: one that is there, one of a pool, or a new one."""

import os
from typing import Any

from mngr.actions.create.plan import Plan
from mngr.actions.host_notes import forget_creation, note_creation
from mngr.actions.manager import Manager
from mngr.actions.rows import this_process
from mngr.actions.undo import Undo
from mngr.errors import NotFoundError, RefusedError, UsageError
from mngr.hosts.protocol import Host, Pool, Prepares, Provider, Startable
from mngr.model.agent import AgentSpec
from mngr.model.host import HostOptions, HostRef, HostSpec, HostState
from mngr.model.ids import random_name, slug
from mngr.store.paths import HostPaths


def open_or_make_host(plan: Plan, draft: AgentSpec, manager: Manager, undo: Undo) -> tuple[Host, bool]:
    """The host to create on, ready for agents, and whether it is new; a new one is removed again on failure.

    A new one bears what is known of its agent, where its provider has labels.
    """
    address, provider = plan.address, manager.provider(plan.address.provider)
    asked = _host_options(plan.spec)
    for name in asked:
        if name not in provider.options:
            can = ", ".join(sorted(provider.options)) or "none of these"
            raise UsageError(
                f'provider "{provider.name}" cannot honour {_option(name)}',
                hint=f"leave it out, or choose a provider that can; this one knows {can}",
            )
    if address.provider == "local":
        host, is_new = provider.open(address.host), False
    elif known := [ref for ref in provider.hosts() if ref.name == address.host] if address.host else []:
        host, is_new = _open_known(known[0], list(asked), provider), False
    elif address.wants_new_host and isinstance(provider, Pool):
        host, is_new = provider.choose(), False
    else:
        host, is_new = _make_host(plan, draft, manager, undo), True
    if isinstance(provider, Prepares):
        provider.prepare(host)
    return host, is_new


def _open_known(ref: HostRef, asked: list[str], provider: Provider) -> Host:
    """A host that was made before: it is what it is, and is started if it is stopped."""
    for name in asked:
        raise UsageError(
            f'host "{ref.name}" is there already and cannot be given {_option(name)}',
            hint="leave it out, or name a new host",
        )
    if ref.state == HostState.STOPPED and isinstance(provider, Startable):
        return provider.start(ref.name)
    return provider.open(ref.name)


def _make_host(plan: Plan, draft: AgentSpec, manager: Manager, undo: Undo) -> Host:
    """Makes a host, with a note that it is being made: should we die, `gc` finds it by that."""
    from mngr.hosts.labels import tags_of  # an agent here needs none

    provider = manager.provider(plan.address.provider)
    name = plan.address.host or f"{slug(plan.address.name, 40) or random_name()}-{os.urandom(2).hex()}"
    ref, is_ours = HostRef(name, provider.name), True

    def remove_again() -> None:
        try:
            if is_ours:
                provider.destroy(name)
        except NotFoundError:
            return  # nothing is left behind; should the host come up late, `gc` finds it by the note
        forget_creation(manager, ref)

    note_creation(manager, ref, this_process())
    undo.push(f"host {name}", remove_again)
    try:
        host = provider.create(HostSpec(name=name, tags=tags_of(draft), **_host_options(plan.spec)))
    except RefusedError:
        is_ours = False  # another process made one of that name meanwhile
        raise
    if plan.spec.snapshot:
        # A copy of a host bears its agents, and each agent has one host, where it lives.
        paths = HostPaths(host.dir)
        snapshots = () if plan.seed.in_image else (paths.snapshots,)
        old = (paths.agents, paths.names, paths.work, paths.tmux, *snapshots)
        host.run(("rm", "-rf", "--", *old), timeout_s=600).check(f'cannot clear "{host.name}"')
    return host


def _host_options(spec: HostOptions) -> dict[str, Any]:
    """What was asked of the host, by the name of the option's field."""
    asked = {name: getattr(spec, name) for name in HostOptions.__struct_fields__}
    return {name: value for name, value in asked.items() if value}


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
