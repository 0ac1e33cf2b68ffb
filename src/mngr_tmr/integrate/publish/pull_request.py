"""The title and the text of the pull request; what agents wrote is shown as code, never as Markdown."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

from mngr_tmr.agent_text import code, fenced, one_line
from mngr_tmr.model.integration import Fix, Integration
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
    """The text of the pull request for an integration."""
    return PullRequestText(run, records, integration).text()


class PullRequestText:
    """The sections of a pull request. What agents wrote is in code spans and blocks."""

    def __init__(self, run: RunSpec, records: Sequence[TaskRecord], integration: Integration) -> None:
        self._run, self._records, self._integration = run, records, integration
        self._by_slug = {record.task.slug: record for record in records}

    def text(self) -> str:
        """The whole text; a section without content is left out, and a long one says how much it leaves out."""
        sections = [
            ("", list(self._counts())),
            ("Tests that fail on the branch", list(self._failing())),
            ("Implementation fixes, by rank", list(self._fixes())),
            ("Tests, docs and tutorial", list(self._squashed())),
            ("Weaker tests", list(self._weakenings())),
            ("Added tests", list(self._added())),
            ("One problem, fixed many times", list(self._shared())),
            ("Conflicts", list(self._conflicts())),
            ("Blocked", list(self._blocked())),
            ("Escalations", list(self._escalations())),
            ("Not merged", list(self._not_merged())),
            ("Gates", list(self._gates())),
            ("Notes", [f"- {code(note, 500)}" for note in self._integration.notes]),
        ]
        text = ""
        for title, lines in sections:
            if not lines:
                continue
            head = f"\n## {title}\n\n" if title else ""
            kept = _items_within(lines, _LIMIT - len(text) - len(head))
            left = len(lines) - len(kept)
            text += head + "\n".join(kept).rstrip() + "\n"
            text += f"\n… and {_count(left, 'line')} more, in the report\n" if left else ""
        return text

    def _counts(self) -> Iterator[str]:
        done, best = self._integration, dict[str, str]()
        for account in done.accounts:
            if best.get(account.task) not in _TAKEN:
                best[account.task] = account.kind
        kinds = Counter(best.values())
        taken = sum(kinds[kind] for kind in _TAKEN)
        tests = _count(len(self._records), "test")
        yield f"Run {code(self._run.id)} on {code(self._run.base[:12])}: {tests}, an agent for each."
        yield ""
        if done.measured:
            fixed = count(done.measured).fixed
            yield f"- {headline(done.measured, is_base=done.tip == done.base)}"
            yield f"- {_count(fixed, 'test that failed before passes now', 'tests that failed before pass now')}"
        fixes = _count(len(done.fixes), "implementation fix", "implementation fixes")
        yield f"- {fixes}, each its own commit, ranked, to be reverted alone"
        yield f"- test, docs and tutorial changes of {_count(len(done.squashed_tasks), 'task')} in one commit"
        yield (
            f"- of {_count(len(best), 'task')}: {taken} integrated, {kinds['excluded']} not merged, "
            f"{kinds['failed']} failed, {kinds['nothing']} without a change"
        )
        yield f"- branch {code(done.branch)} at {code(done.tip[:12])}"
        yield "- everything about every test: [report.html](report.html)"

    def _failing(self) -> Iterator[str]:
        """Every test that fails, with its outcome at the base."""
        for one in self._integration.measured:
            if one.tip.is_failure:
                before = "it is new" if one.is_added else f"{one.base.outcome or 'not run'} at the base"
                why = f": {code(one.tip.reason)}" if one.tip.reason else ""
                yield f"- {code(one.test)}: {one.tip.outcome} ({before}){why}"

    def _fixes(self) -> Iterator[str]:
        blockers: dict[str, list[str]] = {}
        for fix in self._integration.fixes:
            for commit in fix.depends_on:
                blockers.setdefault(commit, []).append(fix.commit)
        for fix in self._integration.fixes:
            yield f"{fix.rank}. {code(fix.title)} ({code(fix.commit[:12])})"
            yield from (f"   - {line}" for line in self._about(fix, blockers.get(fix.commit, ())))

    def _about(self, fix: Fix, blockers: Sequence[str]) -> Iterator[str]:
        yield f"why this rank: {code(fix.reason, 600)}"
        yield f"made by {self._names(fix.tasks)}"
        if fix.needed_by:
            yield f"tests that fail without it: {', '.join(code(test) for test in fix.needed_by[:_MOST])}"
        else:
            yield "no test failed without it"
        if seen := fix.witness:
            words = {True: "passes", False: "fails", None: "not run"}
            yield (
                f"old test: {words[seen.old_test_old_code]} on old code, {words[seen.old_test_new_code]} on new; "
                f"new test: {words[seen.new_test_old_code]} on old code, {words[seen.new_test_new_code]} on new"
            )
        if fix.doubts:
            yield f"**review with care**: {'; '.join(code(doubt) for doubt in fix.doubts)}"
        if blockers:
            first = " ".join(commit[:12] for commit in reversed(blockers))
            yield f"to revert it, first revert what depends on it: `git revert {first} {fix.commit[:12]}`"
        else:
            yield f"to revert it: `git revert {fix.commit[:12]}`"

    def _squashed(self) -> Iterator[str]:
        if self._integration.squashed:
            yield f"One commit, {code(self._integration.squashed[:12])}, from:"
            yield ""
        for task in self._integration.squashed_tasks:
            record = self._by_slug.get(task)
            result = _result(record) if record else None
            yield f"- {self._names((task,))}: {code(result.summary if result else '')}"

    def _weakenings(self) -> Iterator[str]:
        for found in self._integration.weakenings:
            change = f": {code(found.before)}" if found.before else ""
            change += f" → {code(found.after)}" if found.after else ""
            yield f"- {found.kind.replace('_', ' ')} in {code(f'{found.file}::{found.test}')}{change}"

    def _added(self) -> Iterator[str]:
        for row in self._integration.added_tests:
            yield f"- {code(row['node_id'])}, {code(row['by'])}: {row['outcome']}"

    def _shared(self) -> Iterator[str]:
        for problem in self._integration.shared_problems:
            where = ", ".join(code(path) for path in problem["files"][:10])
            yield f"- {_count(problem['count'], 'similar edit')} in {where}"
            yield ""
            yield fenced(problem["example"], 600)
            yield ""

    def _conflicts(self) -> Iterator[str]:
        for conflict in self._integration.conflicts:
            how = "resolved by an agent" if conflict["resolution"] else "not merged"
            tasks, others = (", ".join(map(code, conflict[key])) for key in ("tasks", "others"))
            files = ", ".join(map(code, conflict["files"][:10]))
            yield f"- {how}: {tasks}{f' against {others}' if others else ''}, in {files}"
            yield from (f"  - {code(message)}" for message in conflict["messages"])
            if not conflict["resolution"]:
                for hunk in conflict["hunks"][:3]:
                    yield from ("", fenced(hunk["text"], 1000), "")

    def _blocked(self) -> Iterator[str]:
        for record in self._records:
            result = _result(record)
            if result and result.outcome == "blocked" and result.blocked:
                blocked = result.blocked
                yield f"- {_link(record)} at {code(blocked.stage)}: {code(blocked.reason, 600)}"
                if blocked.needs:
                    yield f"  - it needs: {code(blocked.needs, 600)}"

    def _escalations(self) -> Iterator[str]:
        """Equal ones are grouped and counted."""
        groups: dict[tuple[str, str], list[tuple[TaskRecord, str]]] = {}
        for record in self._records:
            for escalation in getattr(_result(record), "escalations", ()):
                groups.setdefault((one_line(escalation.kind), one_line(escalation.title)), []).append(
                    (record, escalation.detail)
                )
        for (kind, title), reported in sorted(groups.items(), key=lambda group: -len(group[1])):
            who = ", ".join(_link(record) for record, _ in reported[:10])
            yield f"- {_count(len(reported), 'time')} {code(title)} ({code(kind)}), by {who}"
            if reported[0][1].strip():
                yield f"  - {code(reported[0][1], 600)}"

    def _not_merged(self) -> Iterator[str]:
        for account in self._integration.accounts:
            if account.kind in ("excluded", "failed"):
                commits = ", ".join(code(commit[:12]) for commit in account.commits[:5])
                kind = f"{account.kind} ({commits})" if commits else account.kind
                yield f"- {self._names((account.task,))}, {kind}: {code(account.why, 600)}"

    def _gates(self) -> Iterator[str]:
        for gate in self._integration.gates:
            detail = f": {code(gate.detail, 600)}" if gate.detail else ""
            yield f"- {gate.name}: {'passed' if gate.passed else 'failed'}{detail}"

    def _names(self, tasks: Iterable[str]) -> str:
        return ", ".join(
            _link(self._by_slug[task]) if task in self._by_slug else code(task) for task in tasks
        )


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


def _items_within(lines: Sequence[str], room: int) -> Sequence[str]:
    """As many lines as fit; they end before an item of the list, so that no code block stays open."""
    if sum(len(line) + 1 for line in lines) <= room:
        return lines
    used, end = 0, 0
    for number, line in enumerate(lines):
        if line[:1] == "-" or line[:1].isdigit():
            end = number
        used += len(line) + 1
        if used > room:
            break
    return lines[:end]


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
