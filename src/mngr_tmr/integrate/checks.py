"""Questions that can be put to any commit, so that whoever broke the answer can be searched for."""

from collections.abc import Callable, Container, Iterable, Sequence

from msgspec import Struct

from mngr_tmr.integrate.runner import Collection, Runner
from mngr_tmr.model.verdict import TestRun
from mngr_tmr.verify.verdicts import reason_of

_LONG = 2000


class Check(Struct, frozen=True):
    """`problem(commit)` is empty when all is well. `test` is the test it is about, `owner` the task it belongs to.

    `is_red_at_base` says so without a look; otherwise one is taken.
    """

    name: str
    problem: Callable[[str], str]
    test: str = ""
    owner: str = ""
    is_red_at_base: bool = False


def collection_check(collect: Callable[[str], Collection], expected: Iterable[str]) -> Check:
    """Everything is collected, and no test of the base is gone."""
    wanted = tuple(expected)

    def problem(commit: str) -> str:
        found = collect(commit)
        gone = sorted(set(wanted).difference(found.node_ids))
        return found.error or (f"no longer collected: {', '.join(gone[:5])}" if gone else "")

    return Check("collection", problem)


def command_check(runner: Runner, name: str, command: str) -> Check:
    """A command of the project succeeds."""

    def problem(commit: str) -> str:
        done = runner.run_command(commit, command)
        return f"exit code {done.code}: {done.output[-_LONG:].strip()}" if done.code else ""

    return Check(name, problem)


def check_of_test(runner: Runner, name: str, node_id: str, owner: str) -> Check:
    """One test passes, at the second try at the latest."""

    def problem(commit: str) -> str:
        run = runner.run_tests(commit, (node_id,))[0]
        if run.outcome == "passed":
            return ""
        again = runner.run_tests(commit, (node_id,))[0]
        return "" if again.outcome == "passed" else complaint(again)

    return Check(name, problem, node_id, owner)


class Ran(Struct, frozen=True):
    """Tests at one commit: those that stay red, and those that are sometimes green."""

    red: tuple[TestRun, ...] = ()
    flaky: tuple[str, ...] = ()


def run_with_retries(
    runner: Runner, commit: str, node_ids: Sequence[str], may_skip: Container[str] = (), retries: int = 2
) -> Ran:
    """Runs tests; the red ones again, and what is green then is flaky and blames nobody."""
    if not node_ids:
        return Ran()
    flaky: list[str] = []
    red = [run for run in runner.run_tests(commit, node_ids) if _is_red(run, may_skip)]
    for _ in range(retries):
        if not red:
            break
        again = runner.run_tests(commit, [run.node_id for run in red])
        flaky += [run.node_id for run in again if not _is_red(run, may_skip)]
        red = [run for run in again if _is_red(run, may_skip)]
    return Ran(tuple(red), tuple(flaky))


def _is_red(run: TestRun, may_skip: Container[str]) -> bool:
    """A skipped test proves nothing, so it is red, unless it was skipped before."""
    return run.outcome != "passed" and not (run.outcome == "skipped" and run.node_id in may_skip)


def complaint(run: TestRun) -> str:
    said = reason_of((run,))
    return f"{run.node_id} is {run.outcome}" + (f": {said}" if said else "")
