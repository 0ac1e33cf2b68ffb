"""Failures with one cause, put together: "12 failures, 3 causes"."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from mngr_tmr.model.verdict import Verified
from mngr_tmr.report.fingerprint import Fingerprint, fingerprint, telling_line, without_escapes
from mngr_tmr.report.rows import Row

_BAD = ("failed", "error", "flaky")
_EXAMPLE = 4000
_TEST = "test"


class Failure(Struct, frozen=True):
    """One thing that went wrong with one row; `is_fixed` when work that was verified and not left out mended it.

    `test` is set where the text is pytest's, `fix` is the commit that mended it.
    """

    node_id: str
    stage: str
    text: str
    test: str = ""
    is_fixed: bool = False
    fix: str = ""


class Cause(Struct, frozen=True):
    """Failures that look alike or were mended by one fix. `tests` are node ids, `fixed` those that were mended."""

    id: str
    stage: str
    title: str
    exception: str = ""
    frame: str = ""
    tests: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    example: str = ""

    @property
    def is_open(self) -> bool:
        return len(self.fixed) < len(self.tests)


def find_causes(rows: Sequence[Row]) -> tuple[Cause, ...]:
    """Every cause, the open ones first, then by how many tests it has."""
    groups: dict[Fingerprint, dict[str, Failure]] = {}
    for row in rows:
        for failure in failures_of(row):
            print_ = fingerprint(failure.stage, failure.text, failure.test)
            groups.setdefault(print_, {}).setdefault(failure.node_id, failure)
    causes = [_cause(print_, list(members.values())) for print_, members in _joined(groups).items()]
    return tuple(sorted(causes, key=lambda cause: (not cause.is_open, -len(cause.tests), cause.title)))


def _joined(groups: Mapping[Fingerprint, dict[str, Failure]]) -> dict[Fingerprint, dict[str, Failure]]:
    """The groups, those as one that the same fix mended: what they look like is only how it showed."""
    joined: dict[Fingerprint, dict[str, Failure]] = {}
    for print_, members in groups.items():
        fixes = _fixes(members)
        same = [other for other, theirs in joined.items() if fixes & _fixes(theirs)]
        for other in same[1:]:
            joined[same[0]] |= joined.pop(other)
        into = joined.setdefault(same[0] if same else print_, {})
        into |= {node_id: failure for node_id, failure in members.items() if node_id not in into}
    return joined


def _fixes(members: Mapping[str, Failure]) -> set[str]:
    return {failure.fix for failure in members.values() if failure.fix}


def count_failures(causes: Iterable[Cause]) -> int:
    """How many tests have a failure at all; one may be in several causes."""
    return len({test for cause in causes for test in cause.tests})


def failures_of(row: Row) -> Iterable[Failure]:
    """What went wrong with a row: at the base, at the agent's commit, with a step of ours, or for the agent.

    Of a blocked agent only its reason counts: it looked into the failure and says where it comes from.
    """
    record = row.record
    if record is None:
        return
    node_id = row.task.node_id
    after_text = _text(record.after)
    before_text = _text(record.before)
    if record.end == "failed":
        yield Failure(node_id, record.stage, record.message)
    elif row.section == "infrastructure" or row.section == "malformed":
        yield Failure(node_id, "check" if row.section == "infrastructure" else "result", row.why)
    if row.result and row.result.blocked:
        blocked = row.result.blocked
        yield Failure(node_id, f"blocked: {blocked.stage}", blocked.reason)
        return
    if before_text:
        is_mended = _is_mended(row)
        yield Failure(node_id, _TEST, before_text, node_id, is_mended, _fix(row) if is_mended else "")
    if after_text and after_text != before_text:
        yield Failure(node_id, _TEST, after_text, node_id)


def _is_mended(row: Row) -> bool:
    return row.verdict == "passed" and row.section != "set_aside"


def _fix(row: Row) -> str:
    """The most important fix that its work is in; changes to tests and docs are one commit whatever they mend."""
    fixes = [one for one in row.merged if one.rank]
    return min(fixes, key=lambda one: one.rank).commit if fixes else ""


def _text(verified: Verified | None) -> str:
    """What pytest said, or the reason when that is all there is."""
    if verified is None or verified.verdict not in _BAD:
        return ""
    messages = [run.message for run in verified.runs if run.outcome != "passed" and run.message]
    return (messages or [verified.reason or verified.verdict])[0]


def _cause(print_: Fingerprint, members: Sequence[Failure]) -> Cause:
    digest = hashlib.sha256("\0".join((*_fields(print_),)).encode(errors="replace")).hexdigest()[:10]
    first = members[0]
    text = without_escapes(first.text)
    return Cause(
        digest,
        print_.stage,
        telling_line(text) or "nothing was said",
        print_.exception,
        print_.frame,
        tuple(member.node_id for member in members),
        tuple(member.node_id for member in members if member.is_fixed),
        text[-_EXAMPLE:],
    )


def _fields(print_: Fingerprint) -> tuple[str, str, str, str]:
    return print_.stage, print_.exception, print_.frame, print_.message
