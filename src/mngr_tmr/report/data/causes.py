"""Groups failures that have one cause: "12 failures, 3 causes"."""

import hashlib
from collections.abc import Iterable, Sequence

from msgspec import Struct

from mngr_tmr.failures.alike import failure_text
from mngr_tmr.failures.fingerprint import Fingerprint, fingerprint, telling_line, without_escapes
from mngr_tmr.failures.likely_cause import LikelyCause, likely_cause
from mngr_tmr.report.data.rows import ReportRow

_EXAMPLE = 4000
_TEST, _BRANCH = "test", "on the branch"
_OTHER_TITLES = 5


class TestFailure(Struct, frozen=True):
    """What went wrong with one row. `is_fixed`: it failed at the base and passes at the tip of the branch.

    `test` is set where the text is pytest's; `fix` is the commit without which the test still fails.
    """

    node_id: str
    stage: str
    text: str
    test: str = ""
    is_fixed: bool = False
    fix: str = ""


class FailureCause(Struct, frozen=True):
    """Failures that one `fix` fixed, or without one those that look alike. `tests` are node ids, `fixed` some of them.

    No test is in two causes. `title` is what the first says; where others say something else, `others` has it.
    `likely` says where the failure may come from, where that is not the code.
    """

    id: str
    stage: str
    title: str
    exception: str = ""
    frame: str = ""
    tests: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    example: str = ""
    fix: str = ""
    others: tuple[str, ...] = ()
    likely: LikelyCause | None = None

    @property
    def is_open(self) -> bool:
        return len(self.fixed) < len(self.tests)


def find_causes(rows: Sequence[ReportRow]) -> tuple[FailureCause, ...]:
    """Every cause, the open ones first, then by how many tests it has."""
    groups: dict[str | Fingerprint, list[TestFailure]] = {}
    for failure in filter(None, map(failure_of, rows)):
        groups.setdefault(failure.fix or _print(failure), []).append(failure)
    causes = [_cause(members) for members in groups.values()]
    return tuple(sorted(causes, key=lambda cause: (not cause.is_open, -len(cause.tests), cause.title)))


def count_failures(causes: Iterable[FailureCause]) -> int:
    """How many tests have a failure."""
    return sum(len(cause.tests) for cause in causes)


def count_fixed(causes: Iterable[FailureCause]) -> int:
    """How many of them pass on the branch."""
    return sum(len(cause.fixed) for cause in causes)


def failure_of(row: ReportRow) -> TestFailure | None:
    """What went wrong with a row, if anything did: the one thing that keeps it from being done.

    A test that the branch fixes failed for that reason, whatever became of its agent. Of a blocked agent its reason
    counts: it looked into the failure and says where it comes from.
    """
    record, node_id, seen = row.record, row.task.node_id, row.measured
    before = failure_text(record.before) if record else ""
    if seen and seen.is_fixed and before:
        return TestFailure(node_id, _TEST, before, node_id, True, row.fixed_by)
    if record is not None:
        if record.end == "failed":
            named = record.message.replace(record.agent, "AGENT") if record.agent else record.message
            return TestFailure(
                node_id, record.stage, named.replace(record.task.slug, "TASK") if record.task.slug else named
            )
        if row.section in ("infrastructure", "malformed"):
            return TestFailure(node_id, "check" if row.section == "infrastructure" else "result", row.why)
        if row.result and row.result.blocked:
            return TestFailure(node_id, f"blocked: {row.result.blocked.stage}", row.result.blocked.reason)
        if text := before or failure_text(record.after):
            return TestFailure(node_id, _TEST, text, node_id)
    if seen and seen.tip.is_failure:
        return TestFailure(node_id, _BRANCH, seen.tip.reason or seen.tip.outcome, node_id)
    return None


def _print(failure: TestFailure) -> Fingerprint:
    return fingerprint(failure.stage, failure.text, failure.test)


def _cause(members: Sequence[TestFailure]) -> FailureCause:
    first = members[0]
    prints = [_print(member) for member in members]
    words = (prints[0].stage, prints[0].exception, prints[0].frame, prints[0].message, first.fix)
    digest = hashlib.sha256("\0".join(words).encode(errors="replace")).hexdigest()[:10]
    alike = [print_ for print_ in prints if print_ != prints[0]] == []
    titles = {
        print_: telling_line(without_escapes(member.text)) or "no message"
        for print_, member in zip(reversed(prints), reversed(members), strict=True)
    }
    title = titles.pop(prints[0])
    likely = likely_cause(first.stage, [telling_line(without_escapes(member.text)) for member in members])
    return FailureCause(
        digest,
        first.stage,
        title,
        prints[0].exception if alike else "",
        prints[0].frame if alike else "",
        tuple(member.node_id for member in members),
        tuple(member.node_id for member in members if member.is_fixed),
        without_escapes(first.text)[-_EXAMPLE:],
        first.fix,
        tuple(sorted(titles.values()))[:_OTHER_TITLES],
        None if likely.kind == "code" or first.fix else likely,
    )
