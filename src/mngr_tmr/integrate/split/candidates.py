"""Which tasks have work to integrate, and why each of the others has none."""

from collections.abc import Sequence

from msgspec import Struct

from mngr_tmr.git import is_object_id
from mngr_tmr.model.integration import Account, AccountKind
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.verdict import Verified


class Candidates(Struct, frozen=True):
    """Every task is in exactly one of the two."""

    candidates: tuple[TaskRecord, ...]
    accounts: tuple[Account, ...]


def select_candidates(records: Sequence[TaskRecord]) -> Candidates:
    """Takes what was verified and is neither blocked, failed, regressing, flaky nor about other or unknown code."""
    accounts = {record.task.slug: rejection(record) for record in records}
    return Candidates(
        tuple(record for record in records if accounts[record.task.slug] is None),
        tuple(account for account in accounts.values() if account is not None),
    )


def rejection(record: TaskRecord) -> Account | None:
    """Why a task's work is not integrated; None when it is integrated."""
    kind: AccountKind = "excluded"
    claim = record.claim
    if record.end == "failed":
        kind, why = "failed", f"{record.stage or 'unknown stage'}: {record.message or 'no message'}"
    elif record.end == "running":
        why = "its agent still runs"
    elif record.end in ("queued", "not_run"):
        kind, why = "nothing", "it was not run"
    elif claim is None:
        other = f"fixed by {record.fixed_by}"
        kind, why = ("nothing", other) if record.fixed_by else ("failed", "it handed over no result")
    elif claim.problem or claim.result is None:
        why = f"its result cannot be used: {claim.problem or 'there is none'}"
    elif claim.result.outcome == "blocked":
        blocked = claim.result.blocked
        why = f"blocked at {blocked.stage}: {blocked.reason}" if blocked else "blocked"
    elif claim.result.outcome == "failed":
        why = "its result says that it failed"
    elif why := _unverified(record):
        pass
    elif not record.commits:
        kind, why = "nothing", "it changed nothing"
    elif not all(is_object_id(commit.id) for commit in record.commits):
        why = "its commits have no proper ids"
    if not why:
        return None
    return Account(record.task.slug, kind, why, tuple(commit.id for commit in record.commits))


def _unverified(record: TaskRecord) -> str:
    """Why the check of the agent's commit keeps its work out."""
    after = record.after
    if after is None:
        return "it was not verified" if record.commits else ""
    if after.verdict == "passed":
        return ""
    if not record.commits and _verdict(record.before) == after.verdict:
        return ""
    reason = f": {after.reason}" if after.reason else ""
    if after.verdict == "wrong_code":
        return f"other code than its own was tested{reason}"
    if after.verdict == "cannot_tell":
        return f"it is unknown which code was tested{reason}"
    if after.verdict == "flaky":
        return f"its test is flaky at its commit{reason}"
    if _verdict(record.before) == "passed":
        return f"regression: its test passed before and is {after.verdict} at its commit{reason}"
    if record.claim and record.claim.result and record.claim.result.passed_after:
        return f"it claims that its test passes; the check saw {after.verdict}{reason}"
    return f"its test is {after.verdict} at its commit{reason}"


def _verdict(verified: Verified | None) -> str:
    return verified.verdict if verified else ""
