"""The text of the pull request, made from records; what agents wrote stands in it as code, never as markdown."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

from mngr_tmr.agent_text import code, fenced, one_line
from mngr_tmr.model.integration import Account, Fix, Integration, Witness
from mngr_tmr.model.measured import count, headline
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.result import Result
from mngr_tmr.model.run import RunSpec

# A forge takes 65,536 characters.
_LIMIT = 60_000
_MOST = 100
_TAKEN = ("squashed", "separate", "merged_into")


def pr_title(integration: Integration) -> str:
    fixes, tasks = len(integration.fixes), len(integration.squashed_tasks)
    if not fixes and not tasks:
        return "tmr: nothing to integrate"
    parts = [_count(fixes, "fix", "fixes")] if fixes else []
    parts += [f"test and docs changes of {_count(tasks, 'task')}"] if tasks else []
    return f"tmr: {' and '.join(parts)}"


def pr_text(run: RunSpec, records: Sequence[TaskRecord], integration: Integration) -> str:
    """The whole text; a section without content is left out, and a long one says how much it leaves out."""
    by_slug = {record.task.slug: record for record in records}
    sections = [
        ("", list(_counts(run, records, integration))),
        ("Tests that fail on the branch", list(_failing(integration))),
        ("Implementation fixes, by rank", list(_fixes(integration, by_slug))),
        ("Tests, docs and tutorial", list(_squashed(integration, by_slug))),
        ("Tests that ask less than before", list(_weakenings(integration))),
        ("Added tests", list(_added(integration))),
        ("One problem, mended many times", list(_shared(integration))),
        ("Conflicts", list(_conflicts(integration))),
        ("Blocked", list(_blocked(records))),
        ("Escalations", list(_escalations(records))),
        ("Left out", list(_left_out(integration, by_slug))),
        ("Gates", list(_gates(integration))),
        ("Notes", [f"- {code(note, 500)}" for note in integration.notes]),
    ]
    return _fit((title, lines) for title, lines in sections if lines)


def _counts(run: RunSpec, records: Sequence[TaskRecord], integration: Integration) -> Iterator[str]:
    best: dict[str, str] = {}
    for account in integration.accounts:
        if best.get(account.task) not in _TAKEN:
            best[account.task] = account.kind
    kinds = Counter(best.values())
    taken = sum(kinds[kind] for kind in _TAKEN)
    yield f"Run {code(run.id)} on {code(run.base[:12])}: {_count(len(records), 'test')}, an agent for each."
    yield ""
    if integration.measured:
        fixed = count(integration.measured).fixed
        yield f"- {headline(integration.measured, is_base=integration.tip == integration.base)}"
        yield f"- {_count(fixed, 'test that failed before passes now', 'tests that failed before pass now')}"
    fixes = _count(len(integration.fixes), "implementation fix", "implementation fixes")
    yield f"- {fixes}, each its own commit, ranked, to be reverted alone"
    yield f"- test, docs and tutorial changes of {_count(len(integration.squashed_tasks), 'task')} in one commit"
    yield (
        f"- of {_count(len(best), 'task')}: {taken} integrated, {kinds['excluded']} left out, "
        f"{kinds['failed']} failed, {kinds['nothing']} without a change"
    )
    yield f"- branch {code(integration.branch)} at {code(integration.tip[:12])}"
    yield "- everything about every test: [report.html](report.html)"


def _failing(integration: Integration) -> Iterator[str]:
    """Each with what it did at the base: a test that failed before is told like any other."""
    for one in integration.measured:
        if one.tip.is_failure:
            before = "it is new" if one.is_added else f"{one.base.outcome or 'not run'} at the base"
            why = f": {code(one.tip.reason)}" if one.tip.reason else ""
            yield f"- {code(one.test)}: {one.tip.outcome} ({before}){why}"


def _fixes(integration: Integration, records: dict[str, TaskRecord]) -> Iterator[str]:
    blockers: dict[str, list[str]] = {}
    for fix in integration.fixes:
        for commit in fix.depends_on:
            blockers.setdefault(commit, []).append(fix.commit)
    for fix in integration.fixes:
        yield f"{fix.rank}. {code(fix.title)} ({code(fix.commit[:12])})"
        yield from (f"   - {line}" for line in _about(fix, blockers.get(fix.commit, ()), records))


def _about(fix: Fix, blockers: Sequence[str], records: dict[str, TaskRecord]) -> Iterator[str]:
    yield f"why here: {code(fix.reason, 600)}"
    yield f"made by {_names(fix.tasks, records)}"
    if fix.needed_by:
        yield f"without it these go red: {', '.join(code(test) for test in fix.needed_by[:_MOST])}"
    else:
        yield "no test was seen to go red without it"
    if fix.witness:
        yield _witness(fix.witness)
    if fix.doubts:
        yield f"**look twice**: {'; '.join(code(doubt) for doubt in fix.doubts)}"
    if blockers:
        first = " ".join(commit[:12] for commit in reversed(blockers))
        yield f"to take it back, first revert what stands on it: `git revert {first} {fix.commit[:12]}`"
    else:
        yield f"to take it back: `git revert {fix.commit[:12]}`"


def _witness(seen: Witness) -> str:
    words = {True: "passes", False: "fails", None: "not run"}
    return (
        f"old test: {words[seen.old_test_old_code]} on old code, {words[seen.old_test_new_code]} on new; "
        f"new test: {words[seen.new_test_old_code]} on old code, {words[seen.new_test_new_code]} on new"
    )


def _squashed(integration: Integration, records: dict[str, TaskRecord]) -> Iterator[str]:
    if integration.squashed:
        yield f"One commit, {code(integration.squashed[:12])}, from:"
        yield ""
    for task in integration.squashed_tasks:
        record = records.get(task)
        result = _result(record) if record else None
        yield f"- {_names((task,), records)}: {code(result.summary if result else '')}"


def _weakenings(integration: Integration) -> Iterator[str]:
    for found in integration.weakenings:
        change = f": {code(found.before)}" if found.before else ""
        change += f" → {code(found.after)}" if found.after else ""
        yield f"- {found.kind.replace('_', ' ')} in {code(f'{found.file}::{found.test}')}{change}"


def _added(integration: Integration) -> Iterator[str]:
    for row in integration.added_tests:
        yield f"- {code(row['node_id'])}, {code(row['by'])}: {row['outcome']}"


def _shared(integration: Integration) -> Iterator[str]:
    for problem in integration.shared_problems:
        where = ", ".join(code(path) for path in problem["files"][:10])
        yield f"- {_count(problem['count'], 'similar edit')} in {where}"
        yield ""
        yield fenced(problem["example"], 600)
        yield ""


def _conflicts(integration: Integration) -> Iterator[str]:
    for conflict in integration.conflicts:
        how = "settled by an agent" if conflict["resolution"] else "set aside"
        tasks, others = (", ".join(map(code, conflict[key])) for key in ("tasks", "others"))
        files = ", ".join(map(code, conflict["files"][:10]))
        yield f"- {how}: {tasks}{f' against {others}' if others else ''}, in {files}"
        yield from (f"  - {code(message)}" for message in conflict["messages"])
        if not conflict["resolution"]:
            for hunk in conflict["hunks"][:3]:
                yield from ("", fenced(hunk["text"], 1000), "")


def _blocked(records: Sequence[TaskRecord]) -> Iterator[str]:
    for record in records:
        result = _result(record)
        if result and result.outcome == "blocked" and result.blocked:
            said = result.blocked
            yield f"- {_link(record)} at {code(said.stage)}: {code(said.reason, 600)}"
            if said.needs:
                yield f"  - it needs: {code(said.needs, 600)}"


def _escalations(records: Sequence[TaskRecord]) -> Iterator[str]:
    """Alike ones together, with a count."""
    groups: dict[tuple[str, str], list[tuple[TaskRecord, str]]] = {}
    for record in records:
        for said in getattr(_result(record), "escalations", ()):
            groups.setdefault((one_line(said.kind), one_line(said.title)), []).append((record, said.detail))
    for (kind, title), reported in sorted(groups.items(), key=lambda group: -len(group[1])):
        who = ", ".join(_link(record) for record, _ in reported[:10])
        yield f"- {_count(len(reported), 'time')} {code(title)} ({code(kind)}), by {who}"
        if reported[0][1].strip():
            yield f"  - {code(reported[0][1], 600)}"


def _left_out(integration: Integration, records: dict[str, TaskRecord]) -> Iterator[str]:
    for account in integration.accounts:
        if account.kind in ("excluded", "failed"):
            yield f"- {_names((account.task,), records)}, {account.kind}{_commits(account)}: {code(account.why, 600)}"


def _commits(account: Account) -> str:
    return f" ({', '.join(code(commit[:12]) for commit in account.commits[:5])})" if account.commits else ""


def _gates(integration: Integration) -> Iterator[str]:
    for gate in integration.gates:
        detail = f": {code(gate.detail, 600)}" if gate.detail else ""
        yield f"- {gate.name}: {'passed' if gate.passed else 'red'}{detail}"


def _names(tasks: Iterable[str], records: dict[str, TaskRecord]) -> str:
    return ", ".join(_link(records[task]) if task in records else code(task) for task in tasks)


def _link(record: TaskRecord) -> str:
    """A task by its test, linked to its artifacts."""
    place = quote(f"tasks/{record.task.slug}/attempt-{record.attempt}/") if record.attempt else ""
    name = (
        code(record.task.node_id).replace("]", "\\]")
        if "`" in record.task.node_id
        else code(record.task.node_id)
    )
    return f"[{name}]({place})" if place else name


def _result(record: TaskRecord) -> Result | None:
    return record.claim.result if record.claim else None


def _fit(sections: Iterable[tuple[str, Sequence[str]]]) -> str:
    """All sections; where the room ends, a section ends at a whole item and says how many lines it left out."""
    text = ""
    for title, lines in sections:
        head = f"\n## {title}\n\n" if title else ""
        room = _LIMIT - len(text) - len(head)
        kept = _items_within(lines, room)
        left = len(lines) - len(kept)
        text += head + "\n".join(kept).rstrip() + "\n"
        text += f"\n… and {_count(left, 'line')} more, in the report\n" if left else ""
    return text


def _items_within(lines: Sequence[str], room: int) -> Sequence[str]:
    """As many lines as fit, cut before an item of the list, so that nothing is left open."""
    if sum(len(line) + 1 for line in lines) <= room:
        return lines
    used, cut = 0, 0
    for number, line in enumerate(lines):
        if line[:1] == "-" or line[:1].isdigit():
            cut = number
        used += len(line) + 1
        if used > room:
            break
    return lines[:cut]


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
