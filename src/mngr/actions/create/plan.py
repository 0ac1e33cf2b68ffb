"""The plan of a creation: everything decided before anything is touched, so that bad input touches nothing."""

import os

import msgspec
from msgspec import Struct

from mngr import registry
from mngr.actions.create.request import CreateSpec, join_requests
from mngr.actions.create.seed import Seed
from mngr.actions.environment import asked_env
from mngr.actions.manager import Manager
from mngr.actions.origin import find_origin
from mngr.agents.protocol import AgentType
from mngr.errors import UsageError
from mngr.hosts.protocol import Host
from mngr.model.address import Address
from mngr.store.runfile import check_argv
from mngr.transfer.source import DEFAULT_BRANCH, dirty_summary, parse_branch_option
from mngr_lib.threads import Future


class Plan(Struct, frozen=True):
    """Everything decided before anything is touched."""

    spec: CreateSpec
    address: Address
    agent_type: AgentType
    branch: str
    env: dict[str, str]
    seed: Seed


def make_plan(request: CreateSpec, manager: Manager) -> Plan:
    """The plan for what was asked, with its template. Reads the config, the source and the snapshot."""
    spec = join_requests(request, config=manager.config)
    address = manager.address(spec.name)
    provider = address.provider or spec.provider or manager.provider_of(address.host)
    if spec.provider and address.provider and spec.provider != address.provider:
        raise UsageError(f'address "{spec.name}" and --provider {spec.provider} name two providers')
    address = msgspec.structs.replace(address, provider=provider)
    # Such providers keep images of whole hosts; with --from another agent is put on a host made from one.
    keeps_hosts = bool(spec.snapshot) and "snapshot" in manager.provider(provider).options
    if spec.snapshot and not (keeps_hosts and spec.source):
        from mngr.actions.create import from_snapshot  # few creations begin with one

        read_seed = from_snapshot.seed_from_image if keeps_hosts else from_snapshot.seed_from_snapshot
        return finish_plan(*read_seed(spec, address, manager), address, manager)
    find_agent_type(spec, manager)
    return finish_plan(spec, _seed_from_source(spec, address, manager), address, manager)


def plan_on_image(plan: Plan, host: Host, name: str, manager: Manager) -> Plan:
    """The plan for an agent from the snapshot that is inside the image its host was made from."""
    assert plan.seed.in_image
    address = msgspec.structs.replace(plan.address, host=host.name, provider=host.provider, name=name)
    spec, seed = plan.seed.in_image(address, host)
    seed = msgspec.structs.replace(seed, home=(host.provider, host.name))
    return finish_plan(spec, seed, address, manager)


def finish_plan(spec: CreateSpec, seed: Seed, address: Address, manager: Manager) -> Plan:
    """The plan for an agent, whatever its seed is."""
    agent_type = find_agent_type(spec, manager)
    check_argv(spec.args)
    files = [os.path.join(manager.cwd, file) for file in spec.env_file]
    env = {**seed.env, **asked_env(manager.env, spec.pass_env, files, spec.env)}
    if spec.isolate not in ("", "pid"):
        raise UsageError(f'--isolate "{spec.isolate}" is unknown', hint="the only isolation is: pid")
    return Plan(spec, address, agent_type, branch=spec.branch or DEFAULT_BRANCH, env=env, seed=seed)


def find_agent_type(spec: CreateSpec, manager: Manager) -> AgentType:
    """The type that was named; without one a program has to be."""
    if spec.type:
        return manager.agent_type(spec.type)
    if not spec.args:
        raise UsageError(
            "what should the agent run?", hint="name a type, or a program: mngr create NAME -- PROGRAM ARGS"
        )
    return manager.agent_type("command")


def _seed_from_source(spec: CreateSpec, address: Address, manager: Manager) -> Seed:
    """Where the work comes from and how it travels: here a worktree, to others a mirror, a plain folder as it is."""
    is_local = address.provider == "local" and address.host in ("", "local", "localhost")
    transfer = registry.transfer_name(spec.transfer) if spec.transfer else ""
    base = parse_branch_option(spec.branch or DEFAULT_BRANCH, "x").base
    source = find_origin(spec.source, base, manager, include_dirty=spec.include_dirty)
    if not transfer and source.common_dir:
        transfer = "worktree" if is_local else "mirror"
    elif not transfer:
        transfer = "none" if is_local else "copy"
    if transfer not in ("worktree", "mirror"):
        return Seed(source=source, transfer=transfer)

    def dirty_notes() -> tuple[str, ...]:
        if source.include_dirty or source.dirty or not source.common_dir:
            return ()
        summary = dirty_summary(source)
        return (f"not brought along: {summary} (--include-dirty brings them)",) if summary else ()

    return Seed(source=source, transfer=transfer, notes=Future(dirty_notes).result)
