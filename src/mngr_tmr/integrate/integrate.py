"""The whole reduce step: records of tasks in, one linear branch and an account of everything out."""

from collections.abc import Sequence

from msgspec import Struct

from mngr_tmr.git import Repository
from mngr_tmr.integrate.branch.builder import Builder
from mngr_tmr.integrate.branch.conflict import Resolve
from mngr_tmr.integrate.branch.final_commits import Finished, finish
from mngr_tmr.integrate.branch.ledger import Whereabouts, account_for
from mngr_tmr.integrate.branch.plan import Plan, make_plan
from mngr_tmr.integrate.evidence.evidence import Evidence
from mngr_tmr.integrate.evidence.similar_edits import shared_problems
from mngr_tmr.integrate.gates.branch_checks import Trials
from mngr_tmr.integrate.gates.gates import Judged, judge
from mngr_tmr.integrate.gates.runner import Runner, begin_step
from mngr_tmr.integrate.split.candidates import sort_out
from mngr_tmr.integrate.split.change import Unit
from mngr_tmr.integrate.split.split import cut
from mngr_tmr.integrate.trust import Trust
from mngr_tmr.model.integration import Account, Integration
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import integrated_branch


def integrate(
    run: RunSpec,
    records: Sequence[TaskRecord],
    *,
    runner: Runner,
    resolve: Resolve | None = None,
    trust: Trust | None = None,
) -> Integration:
    """Makes the branch `tmr/<run>/integrated` of everything that was verified and passes the gates.

    The same records give the same commits. Nothing but that branch changes in the repository; when nothing can be
    integrated it stands at the base.
    """
    repo = Repository(run.repo, run.created_at)
    begin_step(runner, "merging")
    ready = prepare(repo, run, records)
    plan = make_plan(ready.units)
    builder = Builder(repo, run.base, resolve)
    judged = judge(builder, run.base, plan, Trials(repo, run, records, runner))
    done = finish(repo, run.base, plan.without(judged.dropped), judged.built)
    accounts = (*ready.accounts, *account_for(ready.units, _whereabouts(plan, judged, done)))
    outcome = Outcome(plan, judged, done, accounts, ready.units)
    return conclude(repo, run, outcome, records, Tools(builder, runner, trust or Trust()))


class Ready(Struct, frozen=True):
    """The pieces of all work that may be integrated, and accounts of the rest."""

    candidates: tuple[TaskRecord, ...]
    units: tuple[Unit, ...]
    accounts: tuple[Account, ...]


class Outcome(Struct, frozen=True):
    """A branch that passed the gates, and how it came about."""

    plan: Plan
    judged: Judged
    done: Finished
    accounts: tuple[Account, ...]
    units: tuple[Unit, ...]


class Tools(Struct, frozen=True):
    """What builds, tries and checks commits."""

    builder: Builder
    runner: Runner
    trust: Trust


def prepare(repo: Repository, run: RunSpec, records: Sequence[TaskRecord]) -> Ready:
    chosen = sort_out(records)
    pieces = cut(repo, run, chosen.candidates)
    return Ready(chosen.candidates, pieces.units, (*chosen.accounts, *pieces.accounts))


def conclude(
    repo: Repository,
    run: RunSpec,
    outcome: Outcome,
    records: Sequence[TaskRecord],
    tools: Tools,
) -> Integration:
    """Gathers the evidence, and only then moves the branch, to commits that passed the check."""
    judged, done = outcome.judged, outcome.done
    begin_step(tools.runner, "evidence for each fix")
    evidence = Evidence(repo, tools.builder, outcome.plan.without(judged.dropped), judged.built)
    integration = Integration(
        base=run.base,
        branch=integrated_branch(run.id),
        tip=done.tip,
        squashed=done.squashed,
        squashed_tasks=tuple(dict.fromkeys(task for unit in judged.built.others for task in unit.tasks)),
        fixes=evidence.fixes(done.fixes, records, judged.measured, tools.runner),
        accounts=outcome.accounts,
        gates=judged.gates,
        weakenings=evidence.weakenings(run.base),
        shared_problems=shared_problems(outcome.units),
        added_tests=judged.added,
        conflicts=tuple(conflict.as_record() for conflict in judged.built.conflicts),
        notes=judged.notes,
        measured=judged.measured,
    )
    tools.trust.check(run.base, integration.tip)
    repo.move_branch(integration.branch, integration.tip)
    return integration


def _whereabouts(plan: Plan, judged: Judged, done: Finished) -> Whereabouts:
    built = judged.built
    return Whereabouts(
        done.commits,
        {**plan.absorbed, **built.held},
        {conflict.unit: conflict for conflict in built.conflicts},
        judged.dropped,
    )
