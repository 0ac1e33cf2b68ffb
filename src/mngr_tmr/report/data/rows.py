"""One row per collected test, and one per test that an agent added: which section it is in, and why. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from mngr_tmr.model.integration import Account, AccountKind, Integration, Weakening
from mngr_tmr.model.measured import Measured, MeasuredTest
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.result import Result
from mngr_tmr.model.task import Task
from mngr_tmr.model.verdict import Verified
from mngr_tmr.report.data.sections import NAMES, SectionName

_NOT_BAD = ("", "passed", "flaky")
_ON_BRANCH: tuple[AccountKind, ...] = ("squashed", "separate", "merged_into")
_LAST_RANK = 1_000_000


class MergedChange(Struct, frozen=True):
    """A commit of the integrated branch that holds work of this row."""

    commit: str
    kind: AccountKind
    rank: int = 0
    title: str = ""


class ReportRow(Struct, frozen=True):
    """One line of the report; `why` says in one line why it is in its section.

    `record` is None for a test that an agent added, and then `added_by` is that agent's task. `measured` is what
    was seen at three commits once there is a branch, `fixed_by` its first fix without which the test fails.
    """

    task: Task
    section: SectionName
    why: str = ""
    record: TaskRecord | None = None
    merged: tuple[MergedChange, ...] = ()
    accounts: tuple[Account, ...] = ()
    added_by: str = ""
    outcome: str = ""
    notes: tuple[str, ...] = ()
    measured: MeasuredTest | None = None
    fixed_by: str = ""

    @property
    def result(self) -> Result | None:
        claim = self.record.claim if self.record else None
        return claim.result if claim else None

    @property
    def rank(self) -> int:
        return min((one.rank for one in self.merged if one.rank), default=_LAST_RANK)

    @property
    def claimed(self) -> str:
        """What the agent says of its test at the end, in the words of a verdict."""
        return outcome_word(self.result.passed_after) if self.result else ""

    @property
    def verdict(self) -> str:
        """What we saw at the agent's commit."""
        return verdict(self.record.after) if self.record else self.outcome


def make_rows(records: Sequence[TaskRecord], integration: Integration | None = None) -> tuple[ReportRow, ...]:
    """All rows in the order of the sections; within one by rank, then as they were collected."""
    where = _Whereabouts(integration)
    rows = [_row(record, where) for record in records]
    rows += _added(records, integration, where)
    return tuple(sorted(rows, key=lambda row: (NAMES.index(row.section), row.rank)))


def outcome_word(passed: bool | None) -> str:
    return "" if passed is None else "passed" if passed else "failed"


def verdict(verified: Verified | None) -> str:
    return verified.verdict if verified else ""


class _Whereabouts:
    """Where each task's work went."""

    def __init__(self, integration: Integration | None) -> None:
        self.accounts: dict[str, list[Account]] = {}
        for account in integration.accounts if integration else ():
            self.accounts.setdefault(account.task, []).append(account)
        self.weakenings: dict[str, list[Weakening]] = {}
        for weakening in integration.weakenings if integration else ():
            for task in weakening.tasks:
                self.weakenings.setdefault(task, []).append(weakening)
        fixes = sorted(integration.fixes, key=lambda fix: fix.rank) if integration else []
        self._fixes = {fix.commit: fix for fix in fixes}
        self.fixed_by = {test: fix.commit for fix in reversed(fixes) for test in fix.needed_by}
        self.measured = {one.test: one for one in integration.measured} if integration else {}

    def merged(self, task: str) -> tuple[MergedChange, ...]:
        found: dict[str, MergedChange] = {}
        for account in self.accounts.get(task, ()):
            if account.kind in _ON_BRANCH and account.into:
                fix = self._fixes.get(account.into)
                one = MergedChange(
                    account.into, account.kind, fix.rank if fix else 0, fix.title if fix else ""
                )
                found.setdefault(account.into, one)
        return tuple(found.values())


class _Case(Struct, frozen=True):
    """What the table below looks at."""

    record: TaskRecord
    result: Result | None
    merged: tuple[MergedChange, ...]
    accounts: tuple[Account, ...]
    measured: MeasuredTest | None = None

    @property
    def before(self) -> str:
        return verdict(self.record.before)

    @property
    def after(self) -> str:
        return verdict(self.record.after)

    @property
    def reason(self) -> str:
        after = self.record.after
        return after.reason if after else ""

    @property
    def has_failed(self) -> bool:
        """It does not pass at its agent's commit, or the agent gave it up."""
        return self.after not in (*_NOT_BAD, "skipped") or _outcome(self) == "failed"

    @property
    def tip(self) -> Measured:
        """What was seen on the branch."""
        return self.measured.tip if self.measured else Measured()

    @property
    def has_implementation(self) -> bool:
        if self.accounts:
            return any(one.rank for one in self.merged)
        return any(commit.kind == "implementation" for commit in self.record.commits)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Why work of it is not on the branch."""
        left = [account.why for account in self.accounts if account.kind in ("excluded", "failed")]
        return tuple(dict.fromkeys(left)) if self.record.commits else ()


# The first that holds decides.
_TABLE: tuple[tuple[SectionName, Callable[[_Case], bool], Callable[[_Case], str]], ...] = (
    ("queued", lambda case: case.record.end == "queued", lambda _: "no agent yet"),
    ("not_run", lambda case: case.record.end == "not_run", lambda case: _not_run(case.record)),
    ("needs_you", lambda case: case.record.asks != "", lambda case: _asked(case.record)),
    ("running", lambda case: case.record.end == "running", lambda case: case.record.agent),
    ("infrastructure", lambda case: case.record.end == "failed", lambda case: _step(case.record)),
    (
        "infrastructure",
        lambda case: case.after == "wrong_code",
        lambda case: f"wrong code under test: {case.reason}; give every copy its own environment: --own-venv",
    ),
    ("malformed", lambda case: _problem(case) != "", lambda case: _problem(case)),
    ("blocked", lambda case: _outcome(case) == "blocked", lambda case: _blocked(case)),
    (
        "unverified",
        lambda case: case.after == "cannot_tell",
        lambda case: f"cannot tell which code was tested: {case.reason}",
    ),
    (
        "regressed",
        lambda case: _regressed(case),
        lambda case: f"passed before, now {case.after}: {case.reason}",
    ),
    ("disputed", lambda case: _dispute(case) != "", lambda case: _dispute(case)),
    ("flaky", lambda case: case.after == "flaky", lambda case: case.reason),
    (
        "fixed_by_others",
        lambda case: case.has_failed and case.measured is not None and case.measured.is_fixed,
        lambda case: (
            f"its agent did not fix it: {case.reason}" if case.reason else "its agent did not fix it"
        ),
    ),
    (
        "failing",
        lambda case: case.has_failed,
        lambda case: case.reason or "the agent says that it failed",
    ),
    ("unverified", lambda case: case.record.after is None, lambda _: "the test was not run by anyone else"),
    ("set_aside", lambda case: bool(case.left_out and not case.merged), lambda case: case.left_out[0]),
    ("flaky", lambda case: case.tip.outcome == "flaky", lambda case: f"on the branch: {case.tip.reason}"),
    ("failing", lambda case: case.tip.is_failure, lambda case: f"on the branch: {case.tip.reason}"),
    ("implementation", lambda case: case.has_implementation, lambda case: _titles(case)),
    ("other", lambda case: bool(case.record.commits), lambda case: _titles(case)),
    ("skipped", lambda case: case.after == "skipped", lambda case: case.reason),
    ("clean", lambda _: True, lambda _: ""),
)


def _row(record: TaskRecord, where: _Whereabouts) -> ReportRow:
    slug = record.task.slug
    result = record.claim.result if record.claim else None
    merged, accounts = where.merged(slug), tuple(where.accounts.get(slug, ()))
    case = _Case(record, result, merged, accounts, where.measured.get(record.task.node_id))
    section, why = next((name, why(case)) for name, holds, why in _TABLE if holds(case))
    outcome = result.outcome if result else ""
    return ReportRow(
        record.task,
        section,
        why,
        record,
        merged,
        accounts,
        outcome=outcome,
        notes=(*_notes(case), *map(_weakened, where.weakenings.get(slug, ()))),
        measured=case.measured,
        fixed_by=where.fixed_by.get(record.task.node_id, ""),
    )


def _not_run(record: TaskRecord) -> str:
    """Why launching stopped, or that the run was interrupted: then the step that was interrupted is named."""
    return "the run was interrupted first" if record.stage or not record.message else record.message


def _step(record: TaskRecord) -> str:
    return f"{record.stage}: {record.message}" if record.stage else record.message


def _asked(record: TaskRecord) -> str:
    words = {"permission": "it asks for permission", "input": "it asks a question"}
    return ": ".join(filter(None, (words.get(record.asks, record.asks), record.question)))


def _problem(case: _Case) -> str:
    if case.record.claim is None:
        return "it handed over no result"
    return case.record.claim.problem or ("" if case.result else "it handed over no result")


def _outcome(case: _Case) -> str:
    return case.result.outcome if case.result else ""


def _blocked(case: _Case) -> str:
    blocked = case.result.blocked if case.result else None
    return f"{blocked.stage}: {blocked.reason}" if blocked else "it does not say why"


def _regressed(case: _Case) -> bool:
    return case.before == "passed" and case.after not in _NOT_BAD and bool(case.record.commits)


def _dispute(case: _Case) -> str:
    """How the claim differs from what was seen; a flaky test is a verdict of its own and no lie."""
    if case.result is None:
        return ""
    named = [commit for change in case.result.changes for commit in change.commits]
    if named and not case.record.commits:
        return f"it names {len(named)} commits, and none came home"
    claimed = outcome_word(case.result.passed_after)
    if claimed == "passed" and case.after not in _NOT_BAD:
        return f"it says passed, the check says {case.after}: {case.reason}"
    if claimed == "failed" and case.after == "passed":
        return "it says failed, the check says passed"
    return ""


def _titles(case: _Case) -> str:
    titles = [one.title for one in case.merged if one.title]
    return "; ".join(titles or (commit.subject for commit in case.record.commits))


def _notes(case: _Case) -> Iterable[str]:
    """What a reader must know and the section does not say."""
    yield from case.record.notes
    for commit in case.record.commits:
        if commit.is_mislabelled:
            yield f"{commit.id[:12]} is labelled {commit.claimed} and touches implementation"
    claimed = outcome_word(case.result.passed_before) if case.result else ""
    if claimed and case.before and claimed != case.before:
        yield f"before its work: the agent says {claimed}, the check says {case.before}"
    if case.before == "flaky":
        yield "the test is flaky at the base commit"
    if case.tip.outcome and case.tip.outcome != case.after:
        yield f"on the branch: {case.tip.outcome}" + (f": {case.tip.reason}" if case.tip.reason else "")
    if case.merged:
        yield from (f"not merged: {why}" for why in case.left_out)


def _weakened(one: Weakening) -> str:
    change = " → ".join(filter(None, (one.before, one.after)))
    return f"{one.kind.replace('_', ' ')} in {one.file}::{one.test}{f': {change}' if change else ''}"


def _added(
    records: Sequence[TaskRecord], integration: Integration | None, where: _Whereabouts
) -> Iterable[ReportRow]:
    """Tests that agents added: those on the branch, or before there is one those that the checks saw."""
    if integration is not None:
        found: Iterable[Mapping[str, object]] = integration.added_tests
    else:
        found = [
            {"node_id": node_id, "task": record.task.slug}
            for record in records
            if record.after
            for node_id in record.after.added
        ]
    known = {record.task.node_id for record in records}
    for one in found:
        node_id, by = str(one.get("node_id", "")), str(one.get("task", ""))
        if node_id and node_id not in known:
            known.add(node_id)
            outcome = str(one.get("outcome", ""))
            task = Task(node_id, "", str(one.get("file", "")) or node_id.partition("::")[0])
            notes = ("it cites no block of the tutorial",) if one.get("cites") is False else ()
            yield ReportRow(
                task,
                "added",
                f"added by {by}" if by else "added",
                added_by=by,
                outcome=outcome,
                notes=notes,
                measured=where.measured.get(node_id),
                fixed_by=where.fixed_by.get(node_id, ""),
            )
