"""`create --snapshot NAME` where the provider keeps whole hosts: a host from the image, an agent from what is in it."""

import msgspec

from mngr.actions.create.clone import home_or_nothing, like
from mngr.actions.create.create import carry_out
from mngr.actions.create.from_snapshot import begin_from_snapshot, known_program, said_then
from mngr.actions.create.host import open_or_make_host
from mngr.actions.create.plan import Plan, plan_from
from mngr.actions.create.request import HOST_FIELDS, CreateSpec, with_defaults
from mngr.actions.create.seed import Begun, Heritage
from mngr.actions.manager import Manager
from mngr.actions.rows import look_at
from mngr.actions.snapshots.images import read_record
from mngr.actions.undo import Undo
from mngr.errors import MngrError, NotFoundError, did_you_mean
from mngr.hosts.protocol import Snapshots
from mngr.model.address import Address
from mngr.model.agent import AgentSpec, Change


def begin_from_image(spec: CreateSpec, address: Address, manager: Manager) -> Begun:
    """What a snapshot gives a new agent, as far as it is known before there is a host made from it."""
    provider = manager.provider(address.provider)
    records = provider.kept() if isinstance(provider, Snapshots) else {}
    if spec.snapshot not in records:
        hint = did_you_mean(spec.snapshot, records, else_hint="see: mngr snapshot list")
        raise NotFoundError(f'no snapshot "{spec.snapshot}" of {address.provider}', hint=hint)
    kept = read_record(records[spec.snapshot])
    record = known_program(spec, kept.snapshot, kept.agent, address.provider, manager)
    agent = said_then(record, kept.agent)
    same_program = spec.type in ("", agent.type) and not spec.args
    defaults = like(agent) if same_program else msgspec.structs.replace(like(agent), args=())
    transfer = "mirror" if kept.snapshot.repository else "copy"
    heritage = Heritage(inside=spec)
    return Begun(with_defaults(spec, defaults), home_or_nothing(agent), transfer, heritage=heritage)


def carry_out_inside(plan: Plan, draft: AgentSpec, manager: Manager) -> Change:
    """Makes the host from the image, then the agent from the checkpoint that is in it; or leaves nothing behind."""
    with Undo() as undo:
        host, _ = open_or_make_host(plan, draft, manager, undo)
        there = msgspec.structs.replace(plan.address, host=host.name, provider=host.provider, name=draft.name)
        begun = begin_from_snapshot(plan.heritage.inside or plan.spec, there, manager, on=host)
        blank = CreateSpec()
        spec = msgspec.structs.replace(begun.spec, **{field: getattr(blank, field) for field in HOST_FIELDS})
        heritage = msgspec.structs.replace(begun.heritage, home=(host.provider, host.name))
        begun = msgspec.structs.replace(begun, spec=spec, heritage=heritage)
        try:
            change = carry_out(plan_from(begun, there, manager), manager)
        except MngrError:
            # An agent that ended at once is kept with its evidence, and so is its host.
            if look_at(host, manager):
                undo.keep()
            raise
        undo.keep()
        return change
