"""A run out of a pipe of verbs: what came through it becomes a run's folder, as if one program had done it all."""

import os
import time
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

import mngr
from mngr_lib.threads import run_all
from mngr_tmr.engine.journal import Journal
from mngr_tmr.git import Repository
from mngr_tmr.model.entry import Entry, Kind, Step
from mngr_tmr.model.facts import AgentLaunched, AnyFact, WorkFailed, WorkPulled
from mngr_tmr.model.result import Claim
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import Task, agent_of
from mngr_tmr.prompts.render import render_prompt
from mngr_tmr.run.artifacts import pull_artifacts
from mngr_tmr.run.polling import how
from mngr_tmr.run.steps import refuse_leaks
from mngr_tmr.run_folder.attempt import PulledAttempt, needs_verdict, read_attempt_claim
from mngr_tmr.run_folder.folder import RunFolder, make_folder
from mngr_tmr.run_folder.redact import refuse_test_ids

_ATTEMPT = 1
_AT_ONCE = 8


class Carried(Struct, frozen=True):
    """What `collect` puts on a line, under `tmr`, for the end of the pipe: the task, its run, how many there are."""

    task: Task
    run: RunSpec
    tests: int


class Arrival(Struct, frozen=True):
    """A line at the end of the pipe. `agent` is None when there never was one, and `error` says why."""

    carried: Carried
    agent: mngr.Agent | None = None
    error: str = ""


class Arrivals(Struct, frozen=True):
    """All lines of one run, a test each; `problems` are lines that name none and tests that did not come."""

    spec: RunSpec
    lines: tuple[Arrival, ...]
    problems: tuple[str, ...] = ()


class PipeResults(Struct, frozen=True):
    """The lines of a pipe, and the folder that its results were pulled into."""

    arrivals: Arrivals
    results: str


def read_lines(data: bytes) -> Arrivals:
    """The lines of one run; the last line of a test counts, and what cannot be used is a problem."""
    found: dict[str, Arrival] = {}
    problems = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            arrival = _arrival(msgspec.json.decode(line, type=dict[str, Any])) if line.strip() else None
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            problems.append(f"line {number} belongs to no test of a run: {error}")
            continue
        if arrival:
            found[arrival.carried.task.slug] = arrival
    if not found:
        raise mngr.UsageError(
            "; ".join(["no test came through the pipe", *problems[:3]]),
            hint="its lines come from: mngr tmr collect … | mngr create - | … | mngr tmr integrate -",
        )
    # The order of collecting, as far as it is known: lines come as agents finish.
    by_task = sorted((line.carried.task.file, line.carried.task.line, slug) for slug, line in found.items())
    lines = tuple(found[slug] for _, _, slug in by_task)
    # What was asked, with what the agents turned out to be.
    runs = {line.carried.run.id: line.carried.run for line in lines}
    if len(runs) > 1:
        raise mngr.UsageError(
            f"these are tests of several runs: {', '.join(sorted(runs))}", hint="one pipe each"
        )
    (run,) = runs.values()
    types = [line.agent.type for line in lines if line.agent]
    options = replace(run.options, type=types[0] if types else run.options.type)
    spec = replace(run, tasks=tuple(line.carried.task for line in lines), options=options)
    count = lines[0].carried.tests - len(lines)
    missing = (
        (f"{count} of {lines[0].carried.tests} tests did not come through the pipe",) if count > 0 else ()
    )
    return Arrivals(spec, lines, (*problems, *missing))


def make_run_from_pipe(
    runs: str, from_pipe: PipeResults, *, manager: mngr.Manager, env: Mapping[str, str]
) -> RunFolder:
    """Makes the run's folder from what was pulled into `results` and what the agents committed.

    Its journal says what the verbs of the pipe did; stopping and verifying is left to the stages that follow.
    """
    arrivals, results = from_pipe.arrivals, from_pipe.results
    spec = arrivals.spec
    folder = make_folder(runs, spec).hiding(env)
    refuse_test_ids(spec, folder.redactor)
    notes = [Entry(time.time(), "run", "noted", message=problem) for problem in arrivals.problems]
    importer = _Importer(folder, spec, results, manager)
    lives = run_all([partial(_life, line, importer) for line in arrivals.lines], _AT_ONCE)
    entries = sorted((*notes, *(entry for life in lives for entry in life)), key=lambda one: one.at)
    journal = Journal(folder.journal, clean=folder.redactor.record)
    try:
        journal.append(*entries)
    finally:
        journal.close()
    return folder


def _arrival(fields: dict[str, Any]) -> Arrival:
    carried = msgspec.convert(fields.get("tmr"), Carried)
    problem = fields.get("error")
    error = str(problem.get("message", "it failed")) if isinstance(problem, dict) else ""
    agent = msgspec.convert(fields, mngr.Agent) if "id" in fields else None
    return Arrival(carried, agent, error or ("" if agent else "it was never created"))


class _Importer(Struct, frozen=True):
    """Takes one line's work into the run's folder; where a verb of the pipe did not, it does."""

    folder: RunFolder
    spec: RunSpec
    results: str
    manager: mngr.Manager

    def files(self, task: Task, agent: mngr.Agent) -> Claim | None:
        """The prompt, the outbox as it was pulled, the records; the answer is the result."""
        attempt = self.folder.attempt(task.slug, _ATTEMPT)
        writer = self.folder.writer
        writer.write(os.path.join(attempt, "prompt.md"), render_prompt(self.spec, task).encode())
        # Under the name that the agent was created with: the one it has now comes from its host.
        pulled = os.path.join(self.results, agent_of(self.spec.id, task.slug))
        try:
            pull_artifacts(agent.id, attempt, writer, self.manager, pulled)
        except mngr.NotFoundError:
            pass
        return read_attempt_claim(self.folder, task, _ATTEMPT)

    def commits(self, task: Task, agent: mngr.Agent, *, salvage: bool) -> tuple[PulledAttempt, bool]:
        """What the agent committed, and whether it is still there; of one that is gone, what was pulled before."""
        try:
            brought = mngr.pull(agent.id, include_dirty=salvage, manager=self.manager)
            pulled, is_there = PulledAttempt(brought.branch, brought.after, brought.notes), True
        except mngr.NotFoundError:
            commit = Repository(self.spec.repo, 0).branch(agent.branch)
            if not commit:
                raise
            pulled, is_there = PulledAttempt(agent.branch, commit, ("its agent is gone",)), False
        refuse_leaks(self.spec, pulled, self.folder.redactor)
        self.folder.writer.write_json(self.folder.file(task.slug, _ATTEMPT, "pulled.json"), pulled)
        return pulled, is_there


def _life(line: Arrival, importer: _Importer) -> list[Entry]:
    """A task's life as entries of the journal: launched, watched, pulled; a stop may still have to come."""
    task, run, agent = line.carried.task, line.carried.run, line.agent
    if agent is None:
        return [_entry(run.created_at, "launch", "failed", task, line.error)]
    now = time.time()
    created = _moment(agent.created_at, run.created_at)
    claim = importer.files(task, agent)
    return [
        _entry(created, "launch", "intended", task),
        _entry(_moment(agent.started_at, created), "launch", "done", task, fact=AgentLaunched(agent.id)),
        _watched(line, agent, claim, now),
        _entry(now, "pull", "intended", task),
        *_pulled(task, agent, claim, importer),
    ]


def _watched(line: Arrival, agent: mngr.Agent, claim: Claim | None, now: float) -> Entry:
    """How the work ended: with a result, or why there is none."""
    at = min(_moment(agent.ended_at, now), now)
    if claim is not None:
        return _entry(at, "watch", "done", line.carried.task, "result")
    why = line.error or f"the agent ended without a result: {how(agent)}"
    return _entry(
        at, "watch", "failed", line.carried.task, why, WorkFailed("unknown" if line.error else "ended")
    )


def _pulled(task: Task, agent: mngr.Agent, claim: Claim | None, importer: _Importer) -> list[Entry]:
    try:
        pulled, is_there = importer.commits(task, agent, salvage=claim is None)
    except mngr.MngrError as error:
        return [_entry(time.time(), "pull", "failed", task, str(error))]
    verifies = needs_verdict(claim, pulled.commit, importer.spec.base)
    fact = WorkPulled(pulled.commit, verify=verifies)
    done = [_entry(time.time(), "pull", "done", task, fact=fact)]
    return done if is_there else [*done, _entry(time.time(), "stop", "done", task, "its agent is gone")]


def _entry(
    at: float, step: Step, kind: Kind, task: Task, message: str = "", fact: AnyFact | None = None
) -> Entry:
    return Entry(at, step, kind, task.slug, _ATTEMPT, message, fact)


def _moment(text: str | None, otherwise: float) -> float:
    try:
        return datetime.fromisoformat(text).timestamp() if text else otherwise
    except ValueError:
        return otherwise
