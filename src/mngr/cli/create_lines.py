"""`mngr create -`: an agent per line, one answer per line."""

import queue
from collections.abc import Iterator
from itertools import chain

from mngr.actions.create.batch import create_many
from mngr.actions.create.plan import make_plan
from mngr.actions.create.request import CreateSpec, join_requests, read_request, request_keys, split_request
from mngr.actions.create.steps import AgentDiedError
from mngr.cli.call import Call
from mngr.cli.options import Chosen
from mngr.cli.outcome import TargetOutcome, report
from mngr.cli.stdin import Item, read_items
from mngr.cli.targets import failed_before
from mngr.errors import MngrError, UsageError
from mngr_lib.suggest import nearest

# A line as it came, and the part of it that only travels along.
Line = tuple[Item, Item]


def create_lines(call: Call, defaults: CreateSpec, *, jobs: int, max_running: int, dry_run: bool) -> int:
    """Flags are defaults for all lines; a bad line is an error line, and the others go on."""
    work = _plan_all(call, defaults) if dry_run else _create_all(call, defaults, jobs, max_running)
    return report(call, Chosen(("-",)), work, str)


def _create_all(call: Call, defaults: CreateSpec, jobs: int, max_running: int) -> Iterator[TargetOutcome]:
    bad: queue.SimpleQueue[TargetOutcome] = queue.SimpleQueue()

    def good_lines() -> Iterator[tuple[Line, CreateSpec]]:
        for item, outcome in _read_lines(call, defaults):
            if isinstance(outcome, TargetOutcome):
                bad.put(outcome)
            else:
                yield (item, outcome[0]), outcome[1]

    results = create_many(good_lines(), jobs=jobs, max_running=max_running, manager=call.manager)
    for (item, carried), result in results:
        yield from _drain(bad)
        if isinstance(result, AgentDiedError):
            yield TargetOutcome(carried, result.change, result)
        elif isinstance(result, MngrError):
            yield TargetOutcome(item, error=result)
        else:
            yield TargetOutcome(carried, result)
    yield from _drain(bad)


def _plan_all(call: Call, defaults: CreateSpec) -> Iterator[TargetOutcome]:
    for item, outcome in _read_lines(call, defaults):
        if isinstance(outcome, TargetOutcome):
            yield outcome
            continue
        carried, spec = outcome
        try:
            plan = make_plan(spec, call.manager)
        except MngrError as error:
            yield TargetOutcome(item, error=error)
        else:
            record = {"name": plan.address.name, "type": plan.agent_type.name, "transfer": plan.seed.transfer}
            yield TargetOutcome(carried, {**record, "changed": False, "notes": ["would be created"]})


def _read_lines(
    call: Call, defaults: CreateSpec
) -> Iterator[tuple[Item, TargetOutcome | tuple[Item, CreateSpec]]]:
    """What each line asks for, and the part of it that only travels along; or why it cannot be read."""
    for item in chain.from_iterable(read_items()):
        if item.has_failed_before:
            yield item, TargetOutcome(item, error=failed_before(item))
            continue
        if item.problem and not item.fields:
            error = UsageError(item.problem, hint="one JSON object, or a name, a line")
            yield item, TargetOutcome(item, error=error)
            continue
        asked, carried = split_request(item.fields or {"name": item.target})
        # An unknown key only travels along; one that looks like an option may be a slip.
        for key in carried:
            near = nearest(key, request_keys(), cutoff=0.85)
            if near:
                call.warn(f'"{key}" is no option of create and is only carried along; did you mean "{near}"?')
        try:
            line = read_request({key: value for key, value in asked.items() if value is not None})
            request = join_requests(line, defaults, config=call.manager.config)
        except MngrError as problem:
            yield item, TargetOutcome(item, error=problem)
        else:
            yield item, (Item(item.target, carried), request)


def _drain(outcomes: "queue.SimpleQueue[TargetOutcome]") -> Iterator[TargetOutcome]:
    while not outcomes.empty():
        yield outcomes.get()
