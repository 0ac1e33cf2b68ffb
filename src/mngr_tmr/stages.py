"""The stages of a run, in order. Every command that runs tests walks them, from the first or from a later one.

| command                  | from      | to        |
| ------------------------ | --------- | --------- |
| `tmr run`, `demo`        | collect   | report    |
| `tmr plan`, `collect`    | collect   | collect   |
| `tmr integrate -`        | prepare   | report    |
| `tmr resume`             | map       | report    |
| `tmr integrate RUN`      | integrate | report    |
"""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial

import msgspec
from msgspec import Struct
from msgspec.structs import replace

import mngr
from mngr_tmr.collect.collect import collect as collect_tests
from mngr_tmr.copies.base_snapshot import make_base_snapshot, name_base_snapshot
from mngr_tmr.copies.copies import Copies
from mngr_tmr.engine.state import Observe, RunState
from mngr_tmr.history.estimates import estimate_spec
from mngr_tmr.model.alerts import NO_ALERTS, AlertTargets
from mngr_tmr.model.facts import RunResumed
from mngr_tmr.model.run import RunOptions, RunSpec, Secrets
from mngr_tmr.report.data.counts import plural
from mngr_tmr.report.out.budget_lines import budget_lines
from mngr_tmr.report.out.estimate_lines import first_lines
from mngr_tmr.report.out.telemetry import send_trace
from mngr_tmr.report.report import WrittenReport, write_report
from mngr_tmr.report.reporter import Reporter
from mngr_tmr.run.execution import Execution
from mngr_tmr.run.from_pipe import PipeResults, make_run_from_pipe
from mngr_tmr.run.integrate_run import integrate_run
from mngr_tmr.run.integration_stage import Tell, integrate_again
from mngr_tmr.run.preflight import check_agents, check_host, check_policy, stop_for_problems
from mngr_tmr.run_folder.folder import RunFolder, make_folder
from mngr_tmr.run_folder.past_runs import with_expected
from mngr_tmr.run_folder.redact import Redactor, no_values_in_errors, refuse_test_ids
from mngr_tmr.unchanged.passes import write_passes
from mngr_tmr.unchanged.skips import find_unchanged


class PipelineRequest(Struct, frozen=True):
    """What a command asks for. `tell` gets lines for a person, `observe` every entry of the journal.

    `options` are used by an integration instead of the run's own. With `from_pipe`, the run is made from those results.
    `slots_reason` says where the number of slots comes from. With `runs_all`, tests get an agent also where nothing
    that they depend on changed.
    """

    manager: mngr.Manager
    runs: str
    secrets: Secrets
    redactor: Redactor
    tell: Tell | None = None
    observe: Observe | None = None
    checks: bool = False
    resume: RunResumed | None = None
    options: RunOptions | None = None
    from_pipe: PipeResults | None = None
    slots_reason: str = ""
    alerts: AlertTargets = NO_ALERTS
    runs_all: bool = False

    def say(self, line: str) -> None:
        if self.tell:
            self.tell(line)


class Pipeline(Struct, frozen=True):
    """What the stages have made so far.

    `resources` is what a stage leaves open for the next one: the working copies of `collect`, which `prepare` closes,
    and the journal that `map` holds, which `integrate` gives back.
    """

    request: PipelineRequest
    spec: RunSpec
    folder: RunFolder | None = None
    copies: Copies | None = None
    execution: Execution | None = None
    written: WrittenReport | None = None
    resources: ExitStack = msgspec.field(default_factory=ExitStack)

    @property
    def run_folder(self) -> RunFolder:
        assert self.folder is not None, "the stages from `map` on need a folder"
        return self.folder

    @property
    def state(self) -> RunState | None:
        """The state of the tasks, once they were run."""
        return self.execution.state if self.execution else None


Stage = Callable[[Pipeline], Pipeline]


def collect(pipeline: Pipeline) -> Pipeline:
    """Asks pytest for the tests at the base commit, in a working copy; refuses what no agent could work with."""
    request, draft = pipeline.request, pipeline.spec
    env, manager = request.secrets.tests, request.manager
    check_policy(draft.options, manager)
    if request.checks:
        stop_for_problems(check_agents(draft.repo, draft.options, env, manager), request.say)
    copies = pipeline.resources.enter_context(Copies(draft, env, manager, request.tell))
    collected = collect_tests(draft, copies)
    if collected.wrong_code:
        raise mngr.RefusedError(
            f"wrong code under test: {collected.wrong_code}",
            hint="let every copy have its own environment (--own-venv), or say how one is made there: --setup CMD "
            "--pytest CMD; see docs/pipeline.md, Your own project",
        )
    spec = replace(draft, tasks=with_expected(request.runs, collected.tasks))
    refuse_test_ids(spec, request.redactor)
    unchanged = find_unchanged(request.runs, spec, collected.environment)
    skipped = {} if request.runs_all else unchanged.skipped
    spec = replace(spec, skipped=skipped, conditions=unchanged.conditions)
    spec = replace(spec, estimate=estimate_spec(spec, request.runs, manager))
    if request.checks:
        stop_for_problems(check_host(spec.options, copies.at(spec.base), manager), request.say)
    request.say(
        f"run {spec.id}: {plural(len(spec.tasks), 'test')} at {spec.base[:12]}, {request.slots_reason}"
    )
    for line in (*first_lines(spec), *budget_lines(spec)):
        request.say(line)
    return replace(pipeline, spec=spec, copies=copies)


def prepare(pipeline: Pipeline) -> Pipeline:
    """Makes the folder of the run, and the snapshot that its hosts start from."""
    request, spec = pipeline.request, pipeline.spec
    if request.from_pipe:
        folder = make_run_from_pipe(
            request.runs, request.from_pipe, manager=request.manager, env=request.secrets.tests
        )
        return replace(pipeline, folder=folder)
    spec = name_base_snapshot(spec, request.manager)
    folder = RunFolder(make_folder(request.runs, spec).path, request.redactor)
    if pipeline.copies:
        make_base_snapshot(spec, pipeline.copies.at(spec.base), request.manager)
    pipeline.resources.close()
    return replace(pipeline, spec=spec, folder=folder, copies=None)


def map(pipeline: Pipeline) -> Pipeline:
    """Runs an agent for each test and verifies its work, until all have ended or the run is interrupted."""
    request = pipeline.request
    check_policy(pipeline.spec.options, request.manager)
    folder = pipeline.run_folder.hiding(request.secrets.tests, request.secrets.integrator)
    observe = pipeline.resources.enter_context(Reporter(folder, observe=request.observe))
    execution = pipeline.resources.enter_context(
        Execution(
            folder, manager=request.manager, env=request.secrets.tests, observe=observe, alerts=request.alerts
        )
    )
    execution.run_tasks(request.say, request.resume, integrates=True)
    return replace(pipeline, folder=folder, execution=execution)


def integrate(pipeline: Pipeline) -> Pipeline:
    """Builds the branch from the results, unless tests are left to run; the run's journal is free afterwards."""
    request, folder = pipeline.request, pipeline.run_folder
    build = partial(
        integrate_run, folder, manager=request.manager, secrets=request.secrets, options=request.options
    )
    if pipeline.execution is None:
        integrate_again(folder, lambda tell: build(tell=tell), request.say)
    elif pipeline.execution.state.can_integrate:
        pipeline.execution.integrate(lambda tell: build(tell=tell))
    pipeline.resources.close()
    return pipeline


def report(pipeline: Pipeline) -> Pipeline:
    """Writes the page, the summary and other files that tell of the run; for later ones, which tests passed."""
    written = write_report(pipeline.run_folder)
    endpoint = pipeline.request.manager.config.get("telemetry.otlp", "")
    if endpoint and (problem := send_trace(endpoint, pipeline.run_folder, written.model)):
        pipeline.request.say(problem)
    if written.model.state == "finished":
        write_passes(pipeline.run_folder, written.model.spec, written.model.now.records)
    return replace(pipeline, written=written)


STAGES: tuple[Stage, ...] = (collect, prepare, map, integrate, report)


def walk(pipeline: Pipeline, first: Stage = collect, last: Stage = report) -> Pipeline:
    """The pipeline after these stages. After an error the report is written all the same, once there is a folder."""
    with pipeline.resources, no_values_in_errors(pipeline.request.redactor):
        for stage in STAGES[STAGES.index(first) : STAGES.index(last) + 1]:
            try:
                pipeline = stage(pipeline)
            except (mngr.MngrError, KeyboardInterrupt):
                pipeline.resources.close()
                if pipeline.folder is not None:
                    with suppress(mngr.MngrError, OSError):
                        write_report(pipeline.folder)
                raise
    return pipeline
