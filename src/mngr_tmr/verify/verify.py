"""A test at an agent's commit, and all of them at the base: run in fresh copies, never in an agent's directory."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack

from msgspec import Struct
from msgspec.structs import replace

import mngr
from mngr_tmr.copies.copies import Copies
from mngr_tmr.copies.copy import Copy, PytestRequest, PytestResult, open_copy
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import Task
from mngr_tmr.model.verdict import TestRun, Verified, verdict_of
from mngr_tmr.verify.added import added_tests, files_of_added
from mngr_tmr.verify.dependencies import dependencies_of
from mngr_tmr.verify.verdicts import proven_run, reason_of, runs_of

# A test that ends the whole process takes those after it along: they get another process.
_ROUNDS = 5
_BEYOND_DOUBT = ("passed", "skipped")


def verify(
    run: RunSpec,
    task: Task,
    commit: str,
    *,
    artifacts: str = "",
    env: Mapping[str, str] | None = None,
    manager: mngr.Manager | None = None,
) -> Verified:
    """Runs the task's test at the commit, `verify_runs` times, in a copy of its own that is gone afterwards.

    A copy that cannot be made or reached is a MngrError; everything that the test does is a verdict.
    `artifacts` names a folder into which the outbox of these runs is brought.
    """
    ((_, verified),) = verify_equal(run, [CommitCheck(task, commit, artifacts)], env=env, manager=manager)
    return verified


class CommitCheck(Struct, frozen=True):
    """A test to run at a commit; `artifacts` names a folder for the outbox of its runs."""

    task: Task
    commit: str
    artifacts: str = ""


def verify_equal(
    run: RunSpec,
    checks: Sequence[CommitCheck],
    *,
    env: Mapping[str, str] | None = None,
    manager: mngr.Manager | None = None,
) -> list[tuple[Task, Verified]]:
    """Verdicts on tests at commits that have the same tree, one after the other in one copy.

    Only the first finds the copy fresh: a later one that does not pass may suffer from those before it and is left out.
    """
    verdicts: list[tuple[Task, Verified]] = []
    added: tuple[str, ...] = ()
    problem = ""
    with open_copy(run, checks[0].commit, env, manager) as copy:
        for number, check in enumerate(checks):
            if number:
                copy.empty_outbox()
            rans = _run_often(copy, run, check.task)
            verified = _verified(check.task.node_id, check.commit, rans)
            if number == 0:  # a later one may use what an earlier one left
                verified = _with_dependencies(run, check.task, verified, rans)
            if number == 0:
                added, problem = added_tests(copy, run)
            elif verified.verdict not in _BEYOND_DOUBT:
                continue
            if check.artifacts:
                copy.pull_outbox(check.artifacts)
            reason = "; ".join(filter(None, (verified.reason, problem)))
            verdicts.append((check.task, replace(verified, added=added, reason=reason)))
    return verdicts


def measure_base(
    run: RunSpec,
    copies: Copies | None = None,
    *,
    artifacts: str = "",
    env: Mapping[str, str] | None = None,
    manager: mngr.Manager | None = None,
    tell: Callable[[dict[str, Verified]], None] = lambda _so_far: None,
) -> dict[str, Verified]:
    """The verdict on every test of the run at its base commit, by node id; once, for all tasks to share.

    After each of several runs but the last `tell` is called with the verdicts so far.
    """
    required = tuple(task.node_id for task in run.tasks)
    with ExitStack() as stack:
        copy = (copies or stack.enter_context(Copies(run, env, manager))).at(run.base)
        rounds: list[list[PytestResult]] = []
        for number in range(max(1, run.options.verify_runs)):
            if rounds:
                tell(_all_verified(run, rounds))
            rounds.append(_run_all(copy, run, required, f"base-{number + 1}", is_watched=True))
        if artifacts:
            copy.pull_outbox(artifacts)
    return _all_verified(run, rounds)


def run_once(copy: Copy, run: RunSpec, node_ids: Iterable[str], name: str) -> dict[str, TestRun]:
    """These tests once each, in as few processes as they allow."""
    required = tuple(dict.fromkeys(node_ids))
    rans = _run_all(copy, run, required, name)
    return {node_id: proven_run(_telling(rans, node_id), node_id) for node_id in required}


def _run_often(copy: Copy, run: RunSpec, task: Task) -> list[PytestResult]:
    """The same run several times; what cannot change, such as code that is not the copy's, is seen once."""
    end = time.monotonic() + run.options.verify_deadline_s
    rans: list[PytestResult] = []
    for number in range(max(1, run.options.verify_runs)):
        ask = PytestRequest((task.node_id,), (task.file,), f"verify-{number + 1}", reads=True)
        rans.append(copy.pytest(run.pytest_args, ask, max(1.0, end - time.monotonic())))
        if rans[-1].facts.wrong_code or rans[-1].timed_out or not rans[-1].facts.phases:
            break
    return rans


def _run_all(
    copy: Copy, run: RunSpec, required: tuple[str, ...], name: str, *, is_watched: bool = False
) -> list[PytestResult]:
    """Many tests, once each."""
    rans: list[PytestResult] = []
    left, args = required, (*run.pytest_args, *files_of_added(run, copy.commit, required))
    for _ in range(_ROUNDS):
        ask = PytestRequest(left, None, name, reads=is_watched)
        rans.append(copy.pytest(args, ask, run.options.verify_deadline_s))
        reached = {phase.node_id for phase in rans[-1].facts.phases}
        left = tuple(node_id for node_id in left if node_id not in reached)
        if not left or not reached or rans[-1].facts.has_ended or rans[-1].timed_out:
            break
    return rans


def _with_dependencies(
    run: RunSpec, task: Task, verified: Verified, rans: Sequence[PytestResult]
) -> Verified:
    if verified.verdict != "passed":
        return verified
    found = dependencies_of(rans, task.node_id, task.file, setup=run.options.setup)
    return replace(verified, dependencies=found)


def _telling(rans: list[PytestResult], node_id: str) -> PytestResult:
    """The run that got to this test, else the last one."""
    reached_it = (ran for ran in rans if any(phase.node_id == node_id for phase in ran.facts.phases))
    return next(reached_it, rans[-1])


def _all_verified(run: RunSpec, rounds: Sequence[list[PytestResult]]) -> dict[str, Verified]:
    verdicts = {}
    everything = [ran for rans in rounds for ran in rans]
    is_mixed = any(ran.facts.observed and ran.facts.observed.mixed for ran in everything)
    for task in run.tasks:
        telling = [_telling(rans, task.node_id) for rans in rounds]
        verified = _verified(task.node_id, run.base, telling)
        seen = everything if is_mixed else telling
        verdicts[task.node_id] = _with_dependencies(run, task, verified, seen)
    return verdicts


def _verified(node_id: str, commit: str, rans: list[PytestResult]) -> Verified:
    wrong = next((ran.facts.wrong_code for ran in rans if ran.facts.wrong_code), "")
    if wrong:
        return Verified(node_id, commit, "wrong_code", wrong)
    runs = tuple(one for ran in rans for one in runs_of(ran, node_id))
    verdict = verdict_of(runs)
    unknown = [reached_it for ran in rans if (reached_it := ran.facts.cannot_tell(node_id))]
    if unknown and verdict == "passed":
        return Verified(node_id, commit, "cannot_tell", unknown[0], runs)
    return Verified(node_id, commit, verdict, reason_of(runs), runs)
