"""From words and lines to agents, a group at a time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from mngr.actions.many import run_many
from mngr.actions.rows import Row
from mngr.actions.targets import resolve
from mngr.cli.call import Call
from mngr.cli.options import Chosen
from mngr.cli.outcome import TargetOutcome
from mngr.cli.stdin import Item, read_items
from mngr.errors import ExitCode, MngrError, NotFoundError, UsageError
from mngr.model.agent import Change

Meant = tuple[Item, Row]


def find(call: Call, chosen: Chosen) -> Iterator[tuple[list[Meant], list[TargetOutcome]]]:
    """Groups of agents to act on, each with what was asked for and is not there.

    Names and filters make one group; lines on stdin make a group of all that have arrived.
    """
    if not chosen.from_stdin:
        found = resolve(call.manager, chosen.names, filter=chosen.filter, all=chosen.all)
        call.warn(*found.warnings)
        meant = [(Item(row.agent.name), row) for row in found.rows]
        yield meant, [TargetOutcome(Item(name), error=error) for name, error in found.missing.items()]
        return
    for items in read_items():
        yield _find_items(call, chosen, items)


def do_together(
    call: Call, chosen: Chosen, work: Callable[[list[Row]], Iterable[tuple[Row, Any]]]
) -> Iterator[TargetOutcome]:
    """Acts on each group as a whole. `work` yields each row with its result or error."""
    for meant, missing in find(call, chosen):
        yield from missing
        items: dict[str, list[Item]] = {}
        for item, row in meant:
            items.setdefault(row.agent.id, []).append(item)
        rows = list({row.agent.id: row for _, row in meant}.values())
        for row, result in work(rows) if rows else ():
            for item in items[row.agent.id]:
                yield outcome_of(item, result)


def do_each(
    call: Call, chosen: Chosen, work: Callable[[Item, Row], Any], jobs: int
) -> Iterator[TargetOutcome]:
    """Acts on each agent by itself, so many at once, and yields in the order of finishing."""

    def one(found: Meant | TargetOutcome) -> TargetOutcome:
        if isinstance(found, TargetOutcome):
            return found
        result = work(*found)
        return result if isinstance(result, TargetOutcome) else TargetOutcome(found[0], result)

    def all_found() -> Iterator[Meant | TargetOutcome]:
        for meant, missing in find(call, chosen):
            yield from missing
            yield from meant

    for found, result in run_many(all_found(), one, jobs):
        if isinstance(result, TargetOutcome):
            yield result
        elif not isinstance(found, TargetOutcome):
            yield TargetOutcome(found[0], error=result)


def changes_of(
    work: Callable[[list[Row]], Sequence[Change | MngrError]], rows: list[Row]
) -> Iterator[tuple[Row, Change | MngrError]]:
    """All of them in one go; when that fails, one by one, so that each gets its own answer."""
    try:
        results = work(rows)
    except MngrError as error:
        if len(rows) > 1:
            for row in rows:
                yield from changes_of(work, [row])
            return
        results = [error]
    yield from zip(rows, results, strict=True)


def outcome_of(item: Item, result: Any) -> TargetOutcome:
    return TargetOutcome(item, error=result) if isinstance(result, MngrError) else TargetOutcome(item, result)


def _find_items(call: Call, chosen: Chosen, items: list[Item]) -> tuple[list[Meant], list[TargetOutcome]]:
    """The agents that lines are about, and why the other lines have none."""
    asked, meant, lost = list[Item](), list[Meant](), list[TargetOutcome]()
    for item in items:
        if item.has_failed_before:
            lost.append(TargetOutcome(item, error=failed_before(item)))
        elif item.problem:
            hint = 'one agent record, or {"name": "…"}, or a bare name a line'
            lost.append(TargetOutcome(item, error=UsageError(item.problem, hint=hint)))
        else:
            asked.append(item)
    if not asked:
        return [], lost
    found = resolve(call.manager, [item.target for item in asked], filter=chosen.filter)
    call.warn(*found.warnings)
    rows = {word: row for row in found.rows for word in (row.agent.name, row.agent.address, row.agent.id)}
    for item in asked:
        row = rows.get(item.target)
        if row:
            meant.append((item, row))
        else:
            error = found.missing.get(item.target, NotFoundError(f'no agent "{item.target}"'))
            lost.append(TargetOutcome(item, error=error))
    return meant, lost


def failed_before(item: Item) -> MngrError:
    """The error that an earlier command of the pipe wrote into the line, with its exit code."""
    problem = item.fields["error"]
    error = MngrError(str(problem.get("message", "failed before")), hint=str(problem.get("hint", "")))
    code = problem.get("exit_code")
    if isinstance(code, int) and code in list(ExitCode):
        error.exit_code = ExitCode(code)
    return error
