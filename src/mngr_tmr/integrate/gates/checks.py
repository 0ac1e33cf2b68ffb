"""Checks that can be run at any commit, so that the change that broke one can be searched for."""

from collections.abc import Callable, Container, Iterable, Sequence

from msgspec import Struct

from mngr_tmr.agent_text import one_line
from mngr_tmr.integrate.gates.runner import Collection, Runner
from mngr_tmr.model.measured import Measurement
from mngr_tmr.model.verdict import TestRun
from mngr_tmr.verify.verdicts import reason_of

_LONG = 2000
_LAST_LINES = 12
_SUMMARY = "short test summary info"


class BranchCheck(Struct, frozen=True):
    """`problem(commit)` is empty when all is well. `test` is the test it is about, `owner` the task it belongs to.

    `is_red_at_base` says so without a look; otherwise one is taken.
    """

    name: str
    problem: Callable[[str], str]
    test: str = ""
    owner: str = ""
    is_red_at_base: bool = False


def collection_check(collect: Callable[[str], Collection], expected: Iterable[str]) -> BranchCheck:
    """Everything is collected, and no test of the base is gone."""
    required = frozenset(expected)

    def problem(commit: str) -> str:
        found = collect(commit)
        gone = sorted(required.difference(found.node_ids))
        return found.error or (f"no longer collected: {', '.join(gone[:5])}" if gone else "")

    return BranchCheck("collection", problem)


def command_check(runner: Runner, name: str, command: str) -> BranchCheck:
    """A command of the project succeeds."""

    def problem(commit: str) -> str:
        done = runner.run_command(commit, command)
        if not done.code:
            return ""
        # Of pytest the last line and the short summary tell how it ended, of another command its last lines.
        lines = [line.strip() for line in done.output.splitlines() if line.strip()]
        starts = [number for number, line in enumerate(lines, 1) if _SUMMARY in line]
        if not starts:
            end = "\n".join(lines[-_LAST_LINES:])[-_LONG:]
        else:
            *failures, last = lines[starts[-1] :] or [""]
            end = "\n".join((last.strip("= "), *failures))[:_LONG]
        return f"exit code {done.code}: {end}"

    return BranchCheck(name, problem)


def single_test_check(runner: Runner, name: str, node_id: str, owner: str) -> BranchCheck:
    """One test passes, at the second try at the latest."""

    def problem(commit: str) -> str:
        run = runner.run_tests(commit, (node_id,))[0]
        if run.outcome == "passed":
            return ""
        again = runner.run_tests(commit, (node_id,))[0]
        return "" if again.outcome == "passed" else complaint(again)

    return BranchCheck(name, problem, node_id, owner)


class RetriedTests(Struct, frozen=True):
    """Tests at one commit: how each went, those that stay red, and those that are sometimes green."""

    seen: dict[str, Measurement] = {}
    red: tuple[TestRun, ...] = ()
    flaky: tuple[str, ...] = ()


def run_with_retries(
    runner: Runner,
    commit: str,
    node_ids: Sequence[str],
    *,
    may_skip: Container[str] = (),
    once: Container[str] = (),
    retries: int = 2,
) -> RetriedTests:
    """Runs tests, and those that fail again unless they are in `once`; one that passes then is flaky."""
    if not node_ids:
        return RetriedTests()
    runs = {run.node_id: [run] for run in runner.run_tests(commit, node_ids)}
    red = [tries[-1] for tries in runs.values() if _is_red(tries[-1], may_skip)]
    final = [run for run in red if run.node_id in once]
    red = [run for run in red if run.node_id not in once]
    flaky: list[str] = []
    for _ in range(retries):
        if not red:
            break
        again = runner.run_tests(commit, [run.node_id for run in red])
        for run in again:
            runs[run.node_id].append(run)
        flaky += [run.node_id for run in again if not _is_red(run, may_skip)]
        red = [run for run in again if _is_red(run, may_skip)]
    seen = {}
    for node_id, tries in runs.items():
        last = tries[-1].outcome
        outcome = "flaky" if len(tries) > 1 and last in ("passed", "skipped") else last
        seen[node_id] = Measurement(outcome, one_line(reason_of(tries)))
    return RetriedTests(seen, (*red, *final), tuple(flaky))


def _is_red(run: TestRun, may_skip: Container[str]) -> bool:
    """A skipped test proves nothing, so it is red, unless it was skipped before."""
    return run.outcome != "passed" and not (run.outcome == "skipped" and run.node_id in may_skip)


def complaint(run: TestRun) -> str:
    reason = reason_of((run,))
    return f"{run.node_id} is {run.outcome}" + (f": {reason}" if reason else "")
