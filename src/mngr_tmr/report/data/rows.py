"""One row per collected test, and one per test that an agent added: which section it is in, and why. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from mngr_tmr.model.integration import Account, AccountKind, Integration, WeakenedAssertion
from mngr_tmr.model.measured import MeasuredOutcomes, Measurement
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
    measured: MeasuredOutcomes | None = None
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
        """The outcome at the agent's commit."""
        return verdict(self.record.after) if self.record else self.outcome


def make_rows(records: Sequence[TaskRecord], integration: Integration | None = None) -> tuple[ReportRow, ...]:
    """All rows in the order of the sections; within one by rank, then as they were collected."""
    where = _BranchWork(integration)
    rows = [_row(record, where) for record in records]
    rows += _added(records, integration, where)
    return tuple(sorted(rows, key=lambda row: (NAMES.index(row.section), row.rank)))


def outcome_word(passed: bool | None) -> str:
    return "" if passed is None else "passed" if passed else "failed"


def verdict(verified: Verified | None) -> str:
    return verified.verdict if verified else ""


class _BranchWork:
    """What became of each task's work, and how the branch fares in the tests."""

    def __init__(self, integration: Integration | None) -> None:
        self.accounts: dict[str, list[Account]] = {}
        for account in integration.accounts if integration else ():
            self.accounts.setdefault(account.task, []).append(account)
        self.weakenings: dict[str, list[WeakenedAssertion]] = {}
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
    """One task, as the table below sees it."""

    record: TaskRecord
    result: Result | None
    merged: tuple[MergedChange, ...]
    accounts: tuple[Account, ...]
    measured: MeasuredOutcomes | None = None

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
        return self.after not in (*_NOT_BAD, "skipped") or self.outcome == "failed"

    @property
    def tip(self) -> Measurement:
        """What was seen on the branch."""
        return self.measured.tip if self.measured else Measurement()

    @property
    def has_implementation(self) -> bool:
        if self.accounts:
            return any(one.rank for one in self.merged)
        return any(commit.kind == "implementation" for commit in self.record.commits)

    @property
    def not_merged(self) -> tuple[str, ...]:
        """Why work of it is not on the branch."""
        left = [account.why for account in self.accounts if account.kind in ("excluded", "failed")]
        return tuple(dict.fromkeys(left)) if self.record.commits else ()

    @property
    def not_run_reason(self) -> str:
        """Why launching stopped, who cancelled it, or that the run was interrupted."""
        if self.record.cause == "cancelled":
            return self.record.message
        return (
            "the run was interrupted first"
            if self.record.stage or not self.record.message
            else self.record.message
        )

    @property
    def failed_step(self) -> str:
        return f"{self.record.stage}: {self.record.message}" if self.record.stage else self.record.message

    @property
    def question(self) -> str:
        words = {"permission": "it asks for permission", "input": "it asks a question"}
        return ": ".join(filter(None, (words.get(self.record.asks, self.record.asks), self.record.question)))

    @property
    def result_problem(self) -> str:
        if self.record.claim is None:
            return "it handed over no result"
        return self.record.claim.problem or ("" if self.result else "it handed over no result")

    @property
    def outcome(self) -> str:
        return self.result.outcome if self.result else ""

    @property
    def blocker(self) -> str:
        blocked = self.result.blocked if self.result else None
        return f"{blocked.stage}: {blocked.reason}" if blocked else "it does not say why"

    @property
    def is_regressed(self) -> bool:
        return self.before == "passed" and self.after not in _NOT_BAD and bool(self.record.commits)

    @property
    def dispute(self) -> str:
        """How the claim differs from what was seen; a flaky test does not contradict it."""
        if self.result is None:
            return ""
        named = [commit for change in self.result.changes for commit in change.commits]
        if named and not self.record.commits:
            return f"it names {len(named)} commits, and its branch has none of them"
        claimed = outcome_word(self.result.passed_after)
        if claimed == "passed" and self.after not in _NOT_BAD:
            return f"it says passed, the check says {self.after}: {self.reason}"
        if claimed == "failed" and self.after == "passed":
            return "it says failed, the check says passed"
        return ""

    @property
    def titles(self) -> str:
        titles = [one.title for one in self.merged if one.title]
        return "; ".join(titles or (commit.subject for commit in self.record.commits))

    @property
    def notes(self) -> Iterable[str]:
        """What a reader must know and the section does not say."""
        yield from self.record.notes
        for commit in self.record.commits:
            if commit.is_mislabelled:
                yield f"{commit.id[:12]} is labelled {commit.claimed} and touches implementation"
        claimed = outcome_word(self.result.passed_before) if self.result else ""
        if claimed and self.before and claimed != self.before:
            yield f"before its work: the agent says {claimed}, the check says {self.before}"
        if self.before == "flaky":
            yield "the test is flaky at the base commit"
        if self.tip.outcome and self.tip.outcome != self.after:
            yield f"on the branch: {self.tip.outcome}" + (f": {self.tip.reason}" if self.tip.reason else "")
        if self.merged:
            yield from (f"not merged: {why}" for why in self.not_merged)


# The first entry whose condition holds decides.
_TABLE: tuple[tuple[SectionName, Callable[[_Case], bool], Callable[[_Case], str]], ...] = (
    ("queued", lambda case: case.record.end == "queued", lambda case: case.record.message or "no agent yet"),
    ("not_run", lambda case: case.record.end == "not_run", lambda case: case.not_run_reason),
    (
        "failing",
        lambda case: case.record.end == "skipped" and case.tip.is_failure,
        lambda case: f"on the branch: {case.tip.reason}",
    ),
    ("skipped", lambda case: case.record.end == "skipped", lambda case: case.record.message),
    ("needs_you", lambda case: case.record.asks != "", lambda case: case.question),
    ("running", lambda case: case.record.end == "running", lambda case: case.record.agent),
    ("infrastructure", lambda case: case.record.end == "failed", lambda case: case.failed_step),
    (
        "infrastructure",
        lambda case: case.after == "wrong_code",
        lambda case: f"wrong code under test: {case.reason}; give every copy its own environment: --own-venv",
    ),
    (
        "failing",
        lambda case: case.record.fixed_by != "" and case.tip.is_failure,
        lambda case: f"the fix of {case.record.fixed_by} fixes it, on the branch it fails: {case.tip.reason}",
    ),
    (
        "fixed_by_others",
        lambda case: case.record.fixed_by != "",
        lambda case: f"fixed by {case.record.fixed_by}: same failure, no agent was needed",
    ),
    ("malformed", lambda case: case.result_problem != "", lambda case: case.result_problem),
    ("blocked", lambda case: case.outcome == "blocked", lambda case: case.blocker),
    (
        "unverified",
        lambda case: case.after == "cannot_tell",
        lambda case: f"cannot tell which code was tested: {case.reason}",
    ),
    (
        "regressed",
        lambda case: case.is_regressed,
        lambda case: f"passed before, now {case.after}: {case.reason}",
    ),
    ("disputed", lambda case: case.dispute != "", lambda case: case.dispute),
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
    ("unverified", lambda case: case.record.after is None, lambda _: "only its agent ran the test"),
    ("set_aside", lambda case: bool(case.not_merged and not case.merged), lambda case: case.not_merged[0]),
    ("flaky", lambda case: case.tip.outcome == "flaky", lambda case: f"on the branch: {case.tip.reason}"),
    ("failing", lambda case: case.tip.is_failure, lambda case: f"on the branch: {case.tip.reason}"),
    ("implementation", lambda case: case.has_implementation, lambda case: case.titles),
    ("other", lambda case: bool(case.record.commits), lambda case: case.titles),
    ("skipped", lambda case: case.after == "skipped", lambda case: case.reason),
    ("clean", lambda _: True, lambda _: ""),
)


def _row(record: TaskRecord, where: _BranchWork) -> ReportRow:
    slug = record.task.slug
    result = record.claim.result if record.claim else None
    merged, accounts = where.merged(slug), tuple(where.accounts.get(slug, ()))
    case = _Case(record, result, merged, accounts, where.measured.get(record.task.node_id))
    section, why = next((name, why(case)) for name, holds, why in _TABLE if holds(case))
    weaker = []
    for one in where.weakenings.get(slug, ()):
        change = " → ".join(filter(None, (one.before, one.after)))
        weaker.append(
            f"{one.kind.replace('_', ' ')} in {one.file}::{one.test}{f': {change}' if change else ''}"
        )
    return ReportRow(
        record.task,
        section,
        why,
        record,
        merged,
        accounts,
        outcome=case.outcome,
        notes=(*case.notes, *weaker),
        measured=case.measured,
        fixed_by=where.fixed_by.get(record.task.node_id, ""),
    )


def _added(
    records: Sequence[TaskRecord], integration: Integration | None, where: _BranchWork
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
