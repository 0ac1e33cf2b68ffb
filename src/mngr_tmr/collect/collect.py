"""The tests of a run: real node ids, from pytest, in a checkout of the base commit."""

import shlex
from collections.abc import Iterable, Mapping
from contextlib import ExitStack

from msgspec import Struct
from msgspec.structs import replace

import mngr
from mngr_tmr.collect.citations import cited_blocks
from mngr_tmr.collect.uncommitted import refuse_uncommitted
from mngr_tmr.copies.copies import Copies
from mngr_tmr.copies.copy import PytestRequest, PytestResult
from mngr_tmr.copies.facts import CollectedTest
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.slug import slug
from mngr_tmr.model.task import Task, make_task

_SHOWN = 20_000
_NO_PROGRAM = 127


class Collected(Struct, frozen=True):
    """What pytest found. `wrong_code` names code under test that is not the copy's own; empty when all is.

    `environment` is a digest of the Python and the distributions that the tests run with.
    """

    tasks: tuple[Task, ...]
    command: tuple[str, ...]
    deselected: tuple[str, ...] = ()
    wrong_code: str = ""
    environment: str = ""


def collect(
    run: RunSpec,
    copies: Copies | None = None,
    *,
    env: Mapping[str, str] | None = None,
    manager: mngr.Manager | None = None,
) -> Collected:
    """Collects what `run.pytest_args` select at the base commit, or raises with pytest's own words.

    With `copies` the copy stays open until `copies` is closed; without, nothing is left. `env` is for the copy.
    """
    refuse_uncommitted(run)
    flags = ("--collect-only", "-q", *run.pytest_args)
    command = (*run.pytest, *flags)
    with ExitStack() as stack:
        copies = copies or stack.enter_context(Copies(run, env, manager))
        ran = copies.at(run.base).pytest(flags, PytestRequest(), run.options.verify_deadline_s)
    # The interpreter has no such module, or the shell no such program.
    if not ran.facts.has_ended and ("No module named pytest" in ran.output or ran.code == _NO_PROGRAM):
        raise mngr.MngrError(
            f"there is no pytest in the environment of the working copies: {shlex.join(command[:3])}",
            hint="install it there, for example with --setup, or say how it is started: -S tmr.pytest='...'",
        )
    if problem := _problem(ran):
        raise mngr.MngrError(
            f"{problem}\n{ran.output.strip()[-_SHOWN:]}",
            hint=f"see it by hand, on a clean checkout: {shlex.join(command)}",
        )
    chosen = [test for test in ran.facts.tests if not test.deselected]
    deselected = tuple(test.node_id for test in ran.facts.tests if test.deselected)
    tasks = unique_tasks(chosen)
    if run.tutorial:
        blocks = cited_blocks(run, tasks)
        tasks = tuple(replace(task, blocks=blocks.get(task.node_id, ())) for task in tasks)
    return Collected(tasks, command, deselected, ran.facts.wrong_code, ran.facts.environment)


def unique_tasks(tests: Iterable[CollectedTest]) -> tuple[Task, ...]:
    """A task per test; the same tests get the same names in every run, and no two share one."""
    tasks: dict[str, Task] = {}
    for test in tests:
        task = make_task(test.node_id, file=test.file, line=test.line)
        number = 2
        while task.slug in tasks:
            task = replace(task, slug=slug(f"{test.node_id}#{number}"))
            number += 1
        tasks[task.slug] = task
    return tuple(tasks.values())


def _problem(ran: PytestResult) -> str:
    if ran.timed_out:
        return "pytest did not finish collecting in time"
    if ran.facts.broken:
        names = ", ".join(one.node_id or "the session" for one in ran.facts.broken)
        return f"pytest could not collect {names}"
    if ran.facts.unreadable:
        return f"names of tests that are no text: {ran.facts.unreadable}"
    if ran.code not in (0, 5) or not ran.facts.has_ended:
        return f"pytest failed to collect (exit code {ran.code})"
    if all(test.deselected for test in ran.facts.tests):
        return "no tests were collected"
    return ""
