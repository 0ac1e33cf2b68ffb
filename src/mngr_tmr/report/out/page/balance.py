"""What a run cost, what that was good for, and what is left to look at. Pure."""

from collections.abc import Iterable

from mngr_tmr.model.estimate import Range
from mngr_tmr.model.measured import count
from mngr_tmr.model.money import dollars
from mngr_tmr.report.data.counts import plural
from mngr_tmr.report.data.report_model import ReportModel
from mngr_tmr.report.data.saved import saved_agents
from mngr_tmr.report.data.sections import SECTIONS, SectionName
from mngr_view.records import Balance, Figure, LeftOut, Meter, Unit

# Their rows are the result of the run; those of all other sections with findings are what went wrong.
_RESULTS: tuple[SectionName, ...] = ("implementation", "other", "added")
_MOST_REASONS = 20


def balance_of(model: ReportModel) -> Balance:
    """Left out are rows without an agent's work that do not just wait for a slot, by their reason."""
    reasons: dict[str, list[str]] = {}
    for row in model.rows:
        record = row.record
        if record is None:
            continue
        is_held_back = row.section == "queued" and record.message != ""
        if record.fixed_by or is_held_back or record.end in ("not_run", "skipped"):
            reasons.setdefault(row.why or SECTIONS[row.section].title.lower(), []).append(row.task.node_id)
    ordered = sorted(reasons.items(), key=lambda item: -len(item[1]))
    left_out = tuple(LeftOut(reason, tuple(tests)) for reason, tests in ordered[:_MOST_REASONS])
    return Balance(tuple(_meters(model)), tuple(_worth(model)), tuple(_attention(model)), left_out)


def _meters(model: ReportModel) -> Iterable[Meter]:
    """Dollars where they are known, tokens, and the time where it was estimated; the budget in its own unit."""
    usage, estimate = model.usage, model.spec.estimate
    total = estimate.total if estimate else None
    note = "estimated without a past run" if total else ""
    if total and total.source != "prior":
        note = f"estimated from {plural(total.samples, 'past task') if total.samples else 'past runs'}"
    usd, tokens, seconds = (total.usd, total.tokens, total.seconds) if total else (None, None, None)
    cost = None if usage.unpriced else usage.cost_usd
    rows: tuple[tuple[Unit, float | None, Range | None], ...] = (
        ("usd", cost if usage.tokens else 0.0, usd),
        ("tokens", usage.tokens, tokens),
        ("seconds", model.now.took_s, seconds),
    )
    limit, now = model.now.limit, model.now
    for unit, used, expected in rows:
        low, high = (expected.low, expected.high) if expected else (None, None)
        if limit and unit == ("tokens" if limit.usd is None else "usd"):
            spent = now.spent.value(limit)
            reserved = max(now.committed.value(limit) - spent, 0.0) if now.is_alive else 0.0
            yield Meter(unit, max(used or 0.0, spent), reserved, limit.value, low, high, note)
        elif expected and used is not None:
            yield Meter(unit, used, low=low, high=high, note=note)
        elif used and unit != "seconds":
            # The time alone is among the run's facts already.
            yield Meter(unit, used)


def _worth(model: ReportModel) -> Iterable[Figure]:
    """What is on the branch, and the agents that were not needed."""
    if saved := saved_agents(model.spec, model.now.records):
        usd = saved.estimate.usd if saved.estimate else None
        label = "agent not needed" if saved.agents == 1 else "agents not needed"
        label += f" ({dollars(usd.low)} to {dollars(usd.high)})" if usd else ""
        yield Figure(str(saved.agents), label, "good", "section", "fixed_by_others")
    one = model.integration
    if one is None:
        return
    fixed = count(one.measured).fixed
    if fixed:
        yield Figure(str(fixed), "test fixed" if fixed == 1 else "tests fixed", "good", "causes")
    if one.fixes:
        yield Figure(*_counted(len(one.fixes), "implementation fix", "implementation fixes"), place="branch")
    if one.squashed_tasks:
        yield Figure(
            *_counted(len(one.squashed_tasks), "test or doc improved", "tests and docs improved"),
            place="branch",
        )
    if added := len(model.section("added")):
        yield Figure(*_counted(added, "test added", "tests added"), place="section", section="added")
    cost = None if model.usage.unpriced else model.usage.cost_usd
    if fixed and cost:
        yield Figure(dollars(cost / fixed), "for each fixed test")


def _attention(model: ReportModel) -> Iterable[Figure]:
    """What went wrong, then what a reviewer must not miss."""
    for name, number in model.counts().items():
        section = SECTIONS[name]
        if section.is_finding and name not in _RESULTS:
            yield Figure(str(number), section.title.lower(), "bad", "section", name)
    if still := sum(cause.is_open for cause in model.causes):
        yield Figure(*_counted(still, "open cause", "open causes"), "bad", "causes")
    if one := model.integration:
        if doubtful := sum(bool(fix.doubts) for fix in one.fixes):
            yield Figure(
                *_counted(doubtful, "fix to review with care", "fixes to review with care"), place="branch"
            )
        if weaker := len(one.weakenings):
            yield Figure(*_counted(weaker, "weaker test", "weaker tests"), "bad", "branch")
        if failed := sum(not gate.passed for gate in one.gates):
            yield Figure(*_counted(failed, "failed gate", "failed gates"), "bad", "branch")
    if model.raised:
        yield Figure(
            *_counted(len(model.raised), "matter raised by agents", "matters raised by agents"),
            place="matter",
        )


def _counted(number: int, one: str, many: str) -> tuple[str, str]:
    return str(number), one if number == 1 else many
