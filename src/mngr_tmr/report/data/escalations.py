"""Problems that agents report besides their own test; equal ones are grouped and counted."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from mngr_tmr.failures.fingerprint import normal, without_escapes
from mngr_tmr.model.integration import Integration
from mngr_tmr.report.data.rows import ReportRow

SHARED = "shared problem"
_DETAILS = 20


class RaisedEscalation(Struct, frozen=True):
    """One escalation; `tests` are the node ids of the tests whose agents raised it, `details` each distinct text."""

    kind: str
    title: str
    tests: tuple[str, ...]
    details: tuple[str, ...] = ()
    locations: tuple[str, ...] = ()


def group_escalations(
    rows: Sequence[ReportRow], integration: Integration | None = None
) -> tuple[RaisedEscalation, ...]:
    """All escalations, those raised most often first, with the problems that the integration saw in many branches."""
    groups: dict[tuple[str, str], list[RaisedEscalation]] = {}
    for row in rows:
        for one in row.result.escalations if row.result else ():
            raised = RaisedEscalation(one.kind, one.title, (row.task.node_id,), (one.detail,), one.locations)
            groups.setdefault((_key(one.kind), _key(one.title)), []).append(raised)
    found = [
        RaisedEscalation(
            members[0].kind,
            members[0].title,
            _distinct(test for one in members for test in one.tests),
            _distinct(detail for one in members for detail in one.details if detail.strip())[:_DETAILS],
            _distinct(place for one in members for place in one.locations),
        )
        for members in groups.values()
    ]
    names = {row.task.slug: row.task.node_id for row in rows if row.task.slug}
    for problem in integration.shared_problems if integration else ():
        found.append(
            RaisedEscalation(
                SHARED,
                f"{problem.get('count', 'several')} similar edits: {problem.get('title', '')}",
                tuple(names.get(str(task), str(task)) for task in problem.get("tasks", ())),
                (str(problem["example"]),) if problem.get("example") else (),
                tuple(map(str, problem.get("files", ()))),
            )
        )
    return tuple(sorted(found, key=lambda raised: (-len(raised.tests), raised.kind, raised.title)))


def _key(text: str) -> str:
    return normal(without_escapes(text)).casefold().rstrip(".! ")


def _distinct(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
