"""What is wrong with a built branch, gate by gate: collection, lint, tutorial, affected tests, the suite."""

from collections.abc import Container, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.agent_text import one_line
from mngr_tmr.git import Repository
from mngr_tmr.integrate.branch.builder import BuiltBranch
from mngr_tmr.integrate.gates.added_tests import AddedTest, find_added, makers_of
from mngr_tmr.integrate.gates.checks import (
    BranchCheck,
    RetriedTests,
    collection_check,
    command_check,
    complaint,
    run_with_retries,
    single_test_check,
)
from mngr_tmr.integrate.gates.measure import measure
from mngr_tmr.integrate.gates.runner import Collection, Runner, begin_step
from mngr_tmr.integrate.gates.tutorial_check import tutorial_check
from mngr_tmr.model.integration import Gate
from mngr_tmr.model.measured import MeasuredOutcomes, count, in_words
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.run import RunSpec

COLLECTION, LINT, TUTORIAL = "collection", "lint", "tutorial check"
ADDED, AFFECTED, SUITE, ALL = "added tests", "affected tests", "suite", "all tests"


class FailedCheck(Struct, frozen=True):
    """A check that fails on the branch. `check` finds the change that broke it, unless `culprits` names it already."""

    gate: str
    problem: str
    check: BranchCheck | None = None
    culprits: tuple[str, ...] = ()
    test: str = ""

    @property
    def subject(self) -> str:
        """What failed: a test, or the gate itself."""
        return self.test or self.gate


class BranchChecks:
    """The gates of one run. `excused` holds failures that no change caused; they are not checked again."""

    def __init__(self, repo: Repository, run: RunSpec, records: Sequence[TaskRecord], runner: Runner) -> None:
        self._repo, self._run, self._records, self._runner = repo, run, records, runner
        self._before = {
            record.task.node_id: record.before.verdict for record in records if record.before is not None
        }
        self._red_before = {test for test, verdict in self._before.items() if verdict != "passed"}
        self._owners = {record.task.node_id: record.task.slug for record in records}
        self._collected: dict[str, Collection] = {}
        self._green: dict[str, set[str]] = {}
        self._first: dict[str, RetriedTests] = {}
        self._whole: dict[str, RetriedTests] = {}
        self.excused: dict[str, str] = {}
        self.flaky: dict[str, None] = {}
        expected = [task.node_id for task in run.tasks]
        self._checks = [collection_check(self._collect, expected)]
        if run.options.lint:
            self._checks.append(command_check(runner, LINT, run.options.lint))
        if run.tutorial:
            self._checks.append(tutorial_check(repo, run))

    def reds(self, built: BuiltBranch) -> Iterator[FailedCheck]:
        """The failed checks in order; a branch without a change has none."""
        if not built.changes:
            return
        green = self._green.setdefault(built.tip, set())
        for check in self._checks:
            if check.name in green or check.name in self.excused:
                continue
            self.begin(f"gate {check.name}")
            problem = check.problem(built.tip)
            if problem:
                yield FailedCheck(check.name, problem, check)
            green.add(check.name)
        added = self.added(built)
        yield from self._uncited(built, added)
        affected = self._affected(built, added)
        owners = {**self._owners, **{test.node_id: test.task for test in added}}
        yield from self._red_tests(AFFECTED, self._look_first(built, affected), affected, owners)
        if self._run.options.suite:
            yield from self._suite_command(built.tip)
        ran = self._run_all(built, affected)
        known = self._red_before.difference(affected)
        rest = [test for test in ran.seen if test not in known]
        yield from self._red_tests(self._whole_name, ran, rest, owners)

    def added(self, built: BuiltBranch) -> tuple[AddedTest, ...]:
        """Tests that the base does not have."""
        found = self._collect(built.tip).node_ids
        makers = makers_of(self._run, self._records, built.changes, found)
        return find_added(self._repo, self._run, built.tip, found, makers)

    def measured(self, built: BuiltBranch) -> tuple[MeasuredOutcomes, ...]:
        """All tests at the base, at their agents' commits and on this branch; one without a change is the base."""
        if not built.changes:
            return measure(self._records)
        added = self.added(built)
        ran = self._run_all(built, self._affected(built, added))
        return measure(self._records, {test.node_id: test.task for test in added}, ran.seen)

    def gates(self, built: BuiltBranch, measured: Sequence[MeasuredOutcomes]) -> tuple[Gate, ...]:
        """Every gate with what was measured on this branch, which has been tried."""
        options, added = self._run.options, self.added(built)
        gates = [self._gate(check.name, options.lint if check.name == LINT else "") for check in self._checks]
        uncited = [self.excused[test.node_id] for test in added if test.node_id in self.excused]
        gates.append(Gate(ADDED, not uncited, one_line("; ".join(uncited), 2000)))
        affected = set(self._affected(built, added))
        gates.append(_gate_of_tests(AFFECTED, [test for test in measured if test.test in affected]))
        if options.suite:
            gates.append(self._gate(SUITE, options.suite))
        return (*gates, _gate_of_tests(self._whole_name, measured))

    @property
    def _whole_name(self) -> str:
        """All tests together are the suite, unless a command is."""
        return ALL if self._run.options.suite else SUITE

    def _gate(self, name: str, command: str) -> Gate:
        if name in self.excused:
            return Gate(name, False, one_line(self.excused[name], 2000))
        return Gate(name, True, one_line(f"exit code 0: {command}", 2000) if command else "")

    def begin(self, step: str) -> None:
        begin_step(self._runner, step)

    def _collect(self, commit: str) -> Collection:
        if commit not in self._collected:
            self._collected[commit] = self._runner.collect(commit)
        return self._collected[commit]

    def _affected(self, built: BuiltBranch, added: Sequence[AddedTest]) -> list[str]:
        """The tests of every task with a change on the branch, and the added ones."""
        tasks = {task for change in built.changes for task in change.tasks}
        own = [record.task.node_id for record in self._records if record.task.slug in tasks]
        return list(dict.fromkeys((*own, *(test.node_id for test in added))))

    def _uncited(self, built: BuiltBranch, added: Sequence[AddedTest]) -> Iterator[FailedCheck]:
        for test in added:
            if test.cites is False and test.node_id not in self.excused:
                makers = [change for change in built.others if test.file in change.paths]
                own = [change for change in makers if test.task in change.tasks] or makers
                problem = f"{test.node_id} was added and cites no block of the tutorial"
                yield FailedCheck(
                    ADDED, problem, culprits=tuple(change.id for change in own), test=test.node_id
                )

    def _look_first(self, built: BuiltBranch, affected: Sequence[str]) -> RetriedTests:
        """The affected tests: alone where they are few, for all of them may take long, else with all the others."""
        commit = built.tip
        is_few = 2 * len(affected) < len(self._everything(commit)) or bool(self._run.options.suite)
        if commit in self._whole or not is_few:
            return self._run_all(built, affected)
        if commit not in self._first:
            self.begin(f"gate {AFFECTED}")
            self._first[commit] = self._run_tests(commit, affected, ())
        return self._first[commit]

    def _run_all(self, built: BuiltBranch, affected: Sequence[str]) -> RetriedTests:
        """All tests of the run and of the branch, once and together, as they were run at the base.

        Those that failed there, and that no work on the branch is about, are not tried a second time.
        """
        commit = built.tip
        if commit not in self._whole:
            self.begin(f"gate {self._whole_name}")
            once = {test for test in self._red_before if self._before[test] != "flaky"}.difference(affected)
            self._whole[commit] = self._run_tests(commit, self._everything(commit), once)
        return self._whole[commit]

    def _everything(self, commit: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._owners, *self._collect(commit).node_ids)))

    def _run_tests(self, commit: str, tests: Sequence[str], once: Container[str]) -> RetriedTests:
        may_skip = {test for test, verdict in self._before.items() if verdict == "skipped"}
        ran = run_with_retries(self._runner, commit, tests, may_skip=may_skip, once=once)
        self.flaky.update(dict.fromkeys(ran.flaky))
        return ran

    def _red_tests(
        self, gate: str, ran: RetriedTests, tests: Sequence[str], owners: Mapping[str, str]
    ) -> Iterator[FailedCheck]:
        relevant = set(tests).difference(self.excused)
        for run in ran.red:
            if run.node_id in relevant:
                check = single_test_check(self._runner, gate, run.node_id, owners.get(run.node_id, ""))
                check = replace(check, is_red_at_base=run.node_id in self._red_before)
                yield FailedCheck(gate, complaint(run), check, test=run.node_id)

    def _suite_command(self, commit: str) -> Iterator[FailedCheck]:
        check = command_check(self._runner, SUITE, self._run.options.suite)
        green = self._green[commit]
        self.begin(f"gate {SUITE}")
        if SUITE in self.excused or SUITE in green or not check.problem(commit):
            green.add(SUITE)
            return
        again = check.problem(commit)
        if again:
            yield FailedCheck(SUITE, again, check)
        else:
            self.flaky[self._run.options.suite] = None


def _gate_of_tests(name: str, tests: Sequence[MeasuredOutcomes]) -> Gate:
    counts = count(tests)
    return Gate(name, not counts.failed, in_words(counts) if tests else "no tests")
