"""The plan of a creation: everything decided before anything is touched, so that bad input touches nothing."""

import os
from collections.abc import Callable
from functools import partial

import msgspec
from msgspec import Struct

from mngr import registry
from mngr.actions.create.request import CreateSpec, create_spec, with_defaults
from mngr.actions.create.seed import Begun, Heritage
from mngr.actions.environment import asked_env
from mngr.actions.later import later
from mngr.actions.manager import Manager
from mngr.actions.origin import find_origin
from mngr.agents.protocol import AgentType
from mngr.errors import UsageError
from mngr.model.address import Address
from mngr.store.runfile import check_argv
from mngr.transfer.protocol import WorkSource
from mngr.transfer.source import DEFAULT_BRANCH, dirty_summary, parse_branch_option


class Plan(Struct, frozen=True):
    """Everything decided before anything is touched."""

    spec: CreateSpec
    address: Address
    agent_type: AgentType
    transfer: str
    source: WorkSource | None
    branch: str
    env: dict[str, str]
    tell: Callable[[], tuple[str, ...]] = tuple
    """What a person should know; asked for at the end, because git is still looking."""
    heritage: Heritage = Heritage()


def make_plan(asked: CreateSpec, manager: Manager) -> Plan:
    """Decides everything that can be known beforehand, so that bad input touches nothing."""
    spec = _with_template(asked, manager)
    address = _address(spec, manager)
    if spec.snapshot and _is_plain_host(address, manager):
        from mngr.actions.create.from_snapshot import begin_from_snapshot

        return plan_from(begin_from_snapshot(spec, address, manager), address, manager)
    if spec.snapshot and not spec.source:
        from mngr.actions.create.from_image import begin_from_image

        return plan_from(begin_from_image(spec, address, manager), address, manager)
    return plan_from(_begin(spec, address, manager), address, manager)


def plan_from(begun: Begun, address: Address, manager: Manager) -> Plan:
    """The plan for an agent, whatever its work, type and conversation come from."""
    spec = begun.spec
    agent_type = _agent_type(spec, manager)
    check_argv(spec.args)
    files = [os.path.join(manager.cwd, file) for file in spec.env_file]
    env = {**begun.env, **asked_env(manager.env, spec.pass_env, files, spec.env)}
    if spec.isolate not in ("", "pid"):
        raise UsageError(f'--isolate "{spec.isolate}" is unknown', hint="the only isolation is: pid")
    branch = spec.branch or DEFAULT_BRANCH
    return Plan(
        spec, address, agent_type, begun.transfer, begun.source, branch, env, begun.tell, begun.heritage
    )


def _address(spec: CreateSpec, manager: Manager) -> Address:
    address = manager.address(spec.name)
    provider = address.provider or spec.provider or manager.provider_of(address.host)
    if spec.provider and address.provider and spec.provider != address.provider:
        raise UsageError(f'address "{spec.name}" and --provider {spec.provider} name two providers')
    return msgspec.structs.replace(address, provider=provider)


def _is_plain_host(address: Address, manager: Manager) -> bool:
    """Whether snapshots there are our checkpoints; other providers keep whole hosts."""
    return "snapshot" not in manager.provider(address.provider).options


def _begin(spec: CreateSpec, address: Address, manager: Manager) -> Begun:
    _agent_type(spec, manager)
    source, transfer = _source_and_transfer(spec, address, manager)
    if source is None or transfer not in ("worktree", "mirror"):
        return Begun(spec, source, transfer)
    return Begun(spec, source, transfer, tell=later(partial(_dirty_notes, source)))


def _with_template(spec: CreateSpec, manager: Manager) -> CreateSpec:
    if not spec.template:
        return spec
    table = manager.config.section(f"templates.{spec.template}")
    if not table:
        known = sorted(manager.config.section("templates"))
        raise UsageError(f'no template "{spec.template}"', hint=f"known: {', '.join(known) or 'none'}")
    return with_defaults(spec, create_spec({key.replace("-", "_"): value for key, value in table.items()}))


def _agent_type(spec: CreateSpec, manager: Manager) -> AgentType:
    if spec.type:
        return manager.agent_type(spec.type)
    if not spec.args:
        raise UsageError(
            "what should the agent run?", hint="name a type, or a program: mngr create NAME -- PROGRAM ARGS"
        )
    return manager.agent_type("command")


def _source_and_transfer(
    spec: CreateSpec, address: Address, manager: Manager
) -> tuple[WorkSource | None, str]:
    """Where the work comes from and how it travels: here a worktree, elsewhere a mirror, a plain folder as it is."""
    is_local = address.provider == "local" and address.host in ("", "local", "localhost")
    wanted = registry.transfer_name(spec.transfer) if spec.transfer else ""
    base = parse_branch_option(spec.branch or DEFAULT_BRANCH, "x").base
    source = find_origin(spec.source, base, manager, include_dirty=spec.include_dirty)
    if wanted:
        return source, wanted
    if source.common_dir:
        return source, "worktree" if is_local else "mirror"
    return source, "none" if is_local else "copy"


def _dirty_notes(source: WorkSource) -> tuple[str, ...]:
    if source.include_dirty or source.dirty or not source.common_dir:
        return ()
    summary = dirty_summary(source)
    return (f"not brought along: {summary} (--include-dirty brings them)",) if summary else ()
