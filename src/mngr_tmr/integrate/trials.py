"""What is wrong with a built branch, gate by gate: collection, lint, tutorial, affected tests, the suite."""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.git import Repository
from mngr_tmr.integrate.added import AddedTest, find_added, makers_of
from mngr_tmr.integrate.build import Built
from mngr_tmr.integrate.checks import (
    Check,
    check_of_test,
    collection_check,
    command_check,
    complaint,
    run_with_retries,
)
from mngr_tmr.integrate.runner import Collection, Runner
from mngr_tmr.integrate.tutorial import tutorial_check
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.run import RunSpec

COLLECTION, LINT, TUTORIAL = "collection", "lint", "tutorial check"
ADDED, AFFECTED, SUITE = "added tests", "affected tests", "suite"


class Red(Struct, frozen=True):
    """A gate that does not open. `check` finds the guilty piece; `guilty` names it where nobody has to search."""

    gate: str
    problem: str
    check: Check | None = None
    guilty: tuple[str, ...] = ()
    test: str = ""

    @property
    def subject(self) -> str:
        """What is red: a test, or the gate itself."""
        return self.test or self.gate


class Trials:
    """The gates of one run. `excused` holds what is red and nobody's fault; it is not looked at again."""

    def __init__(self, repo: Repository, run: RunSpec, records: Sequence[TaskRecord], runner: Runner) -> None:
        self._repo, self._run, self._records, self._runner = repo, run, records, runner
        self._red_before = {
            record.task.node_id for record in records if record.before and record.before.verdict != "passed"
        }
        self._owners = {record.task.node_id: record.task.slug for record in records}
        self._collected: dict[str, Collection] = {}
        self._green: dict[str, set[str]] = {}
        self.excused: dict[str, str] = {}
        self.flaky: dict[str, None] = {}
        expected = [task.node_id for task in run.tasks]
        self._checks = [collection_check(self._collect, expected)]
        if run.knobs.lint:
            self._checks.append(command_check(runner, LINT, run.knobs.lint))
        if run.tutorial:
            self._checks.append(tutorial_check(repo, run))

    @property
    def names(self) -> list[str]:
        """The gates there are, in order."""
        return [*(check.name for check in self._checks), ADDED, AFFECTED, SUITE]

    def reds(self, built: Built) -> Iterator[Red]:
        """What is wrong, the first first; a branch without a piece has nothing wrong."""
        if not built.units:
            return
        green = self._green.setdefault(built.tip, set())
        for check in self._checks:
            if check.name in green or check.name in self.excused:
                continue
            problem = check.problem(built.tip)
            if problem:
                yield Red(check.name, problem, check)
            green.add(check.name)
        added = self.added(built)
        yield from self._uncited(built, added)
        owners = {**self._owners, **{test.node_id: test.task for test in added}}
        affected = self._affected(built, added)
        yield from self._red_tests(AFFECTED, built.tip, affected, owners)
        if self._run.knobs.suite:
            yield from self._suite_command(built.tip)
        else:
            known = {*affected, *self._red_before}
            rest = [test for test in self._collect(built.tip).node_ids if test not in known]
            yield from self._red_tests(SUITE, built.tip, rest, owners)

    def added(self, built: Built) -> tuple[AddedTest, ...]:
        """Tests that the base does not have."""
        found = self._collect(built.tip).node_ids
        makers = makers_of(self._run, self._records, built.units, found)
        return find_added(self._repo, self._run, built.tip, found, makers)

    def _collect(self, commit: str) -> Collection:
        if commit not in self._collected:
            self._collected[commit] = self._runner.collect(commit)
        return self._collected[commit]

    def _affected(self, built: Built, added: Sequence[AddedTest]) -> list[str]:
        """The tests of every task with a piece on the branch, and the added ones."""
        tasks = {task for unit in built.units for task in unit.tasks}
        own = [record.task.node_id for record in self._records if record.task.slug in tasks]
        return list(dict.fromkeys((*own, *(test.node_id for test in added))))

    def _uncited(self, built: Built, added: Sequence[AddedTest]) -> Iterator[Red]:
        for test in added:
            if test.cites is False and test.node_id not in self.excused:
                makers = [unit for unit in built.others if test.file in unit.paths]
                own = [unit for unit in makers if test.task in unit.tasks] or makers
                problem = f"{test.node_id} was added and cites no block of the tutorial"
                yield Red(ADDED, problem, guilty=tuple(unit.id for unit in own), test=test.node_id)

    def _red_tests(
        self, gate: str, commit: str, tests: Sequence[str], owners: dict[str, str]
    ) -> Iterator[Red]:
        green = self._green.setdefault(commit, set())
        wanted = [test for test in tests if test not in self.excused and test not in green]
        ran = run_with_retries(self._runner, commit, wanted, self._may_skip(gate, wanted))
        self.flaky.update(dict.fromkeys(ran.flaky))
        green.update(set(wanted).difference(run.node_id for run in ran.red))
        for run in ran.red:
            check = check_of_test(self._runner, gate, run.node_id, owners.get(run.node_id, ""))
            check = replace(check, is_red_at_base=run.node_id in self._red_before)
            yield Red(gate, complaint(run), check, test=run.node_id)

    def _may_skip(self, gate: str, tests: Sequence[str]) -> set[str]:
        """Tests that were skipped at the base, and those of the suite that no task is about."""
        skipped = {
            record.task.node_id
            for record in self._records
            if record.before and record.before.verdict == "skipped"
        }
        return skipped | {test for test in tests if gate == SUITE and test not in self._owners}

    def _suite_command(self, commit: str) -> Iterator[Red]:
        check = command_check(self._runner, SUITE, self._run.knobs.suite)
        green = self._green[commit]
        if SUITE in self.excused or SUITE in green or not check.problem(commit):
            green.add(SUITE)
            return
        again = check.problem(commit)
        if again:
            yield Red(SUITE, again, check)
        else:
            self.flaky[self._run.knobs.suite] = None
