"""`mngr create -`: an agent per line, one answer per line."""

import queue
from collections.abc import Iterator
from difflib import get_close_matches

from mngr.actions.create.batch import create_many
from mngr.actions.create.create import AgentDiedError
from mngr.actions.create.plan import make_plan
from mngr.actions.create.request import CreateSpec, with_defaults
from mngr.cli.call import Call
from mngr.cli.create_options import FIELDS, spec_from_line, split_line, with_template
from mngr.cli.options import Chosen
from mngr.cli.outcome import TargetOutcome, report
from mngr.cli.stdin import Item, read_items
from mngr.cli.targets import failed_before
from mngr.errors import MngrError, UsageError
from mngr.model.agent import Change

# A line as it came, and the part of it that only travels along.
Line = tuple[Item, Item]


def create_lines(call: Call, defaults: CreateSpec, *, jobs: int, max_running: int, dry_run: bool) -> int:
    """Flags are defaults for all lines; a bad line is an error line, and the others go on."""
    work = _plan_all(call, defaults) if dry_run else _create_all(call, defaults, jobs, max_running)
    return report(call, Chosen(("-",)), work, str)


def _create_all(call: Call, defaults: CreateSpec, jobs: int, max_running: int) -> Iterator[TargetOutcome]:
    bad: queue.SimpleQueue[TargetOutcome] = queue.SimpleQueue()

    def wanted() -> Iterator[tuple[Line, CreateSpec]]:
        for whole, outcome in _read(call, defaults):
            if isinstance(outcome, TargetOutcome):
                bad.put(outcome)
            else:
                yield (whole, outcome[0]), outcome[1]

    for (whole, carried), result in create_many(
        wanted(), jobs=jobs, max_running=max_running, manager=call.manager
    ):
        yield from _drain(bad)
        yield _outcome(whole, carried, result)
    yield from _drain(bad)


def _plan_all(call: Call, defaults: CreateSpec) -> Iterator[TargetOutcome]:
    for whole, outcome in _read(call, defaults):
        if isinstance(outcome, TargetOutcome):
            yield outcome
            continue
        carried, spec = outcome
        try:
            plan = make_plan(spec, call.manager)
        except MngrError as error:
            yield TargetOutcome(whole, error=error)
        else:
            told = {"name": plan.address.name, "type": plan.agent_type.name, "transfer": plan.transfer}
            yield TargetOutcome(carried, {**told, "changed": False, "notes": ["would be created"]})


def _read(call: Call, defaults: CreateSpec) -> Iterator[tuple[Item, TargetOutcome | tuple[Item, CreateSpec]]]:
    for items in read_items():
        for item in items:
            yield item, _understood(call, item, defaults)


def _understood(call: Call, item: Item, defaults: CreateSpec) -> TargetOutcome | tuple[Item, CreateSpec]:
    if item.has_failed_before:
        return TargetOutcome(item, error=failed_before(item))
    if item.problem and not item.fields:
        return TargetOutcome(item, error=UsageError(item.problem, hint="one JSON object, or a name, a line"))
    asked, carried = split_line(item.fields or {"name": item.target})
    _warn_of_slips(call, carried)
    try:
        spec = with_template(spec_from_line(asked), call.manager.config)
        return Item(item.target, carried), with_defaults(spec, defaults)
    except MngrError as error:
        return TargetOutcome(item, error=error)


def _outcome(whole: Item, carried: Item, result: Change | MngrError) -> TargetOutcome:
    if isinstance(result, AgentDiedError):
        return TargetOutcome(carried, result.change, result)
    return (
        TargetOutcome(whole, error=result)
        if isinstance(result, MngrError)
        else TargetOutcome(carried, result)
    )


def _warn_of_slips(call: Call, carried: dict[str, object]) -> None:
    """An unknown key only travels along; one that looks like an option is worth a word."""
    for key in carried:
        near = get_close_matches(key, FIELDS, n=1, cutoff=0.85)
        if near:
            call.warn(f'"{key}" is no option of create and is only carried along; did you mean "{near[0]}"?')


def _drain(outcomes: "queue.SimpleQueue[TargetOutcome]") -> Iterator[TargetOutcome]:
    while not outcomes.empty():
        yield outcomes.get()
