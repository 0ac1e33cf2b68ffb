"""The integration as a whole: from the records of tasks to one linear branch and an account of every commit."""

from collections.abc import Sequence

from msgspec import Struct

from mngr_tmr.git import Repository
from mngr_tmr.integrate.branch.builder import BranchBuilder
from mngr_tmr.integrate.branch.conflict import Resolve
from mngr_tmr.integrate.branch.final_commits import FinalCommits, write_final_commits
from mngr_tmr.integrate.branch.ledger import ChangeFates, ledger_of
from mngr_tmr.integrate.branch.plan import BranchPlan, make_plan
from mngr_tmr.integrate.evidence.evidence import BranchEvidence
from mngr_tmr.integrate.evidence.similar_edits import shared_problems
from mngr_tmr.integrate.gates.branch_checks import BranchChecks
from mngr_tmr.integrate.gates.gates import GateOutcome, run_gates
from mngr_tmr.integrate.gates.runner import Runner, begin_step
from mngr_tmr.integrate.split.candidates import select_candidates
from mngr_tmr.integrate.split.change import TaskChange
from mngr_tmr.integrate.split.split import split
from mngr_tmr.integrate.trust import AgentTrust
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
    trust: AgentTrust | None = None,
) -> Integration:
    """Makes the branch `tmr/<run>/integrated` of everything that was verified and passes the gates.

    The same records give the same commits. Nothing but that branch changes in the repository; when nothing can be
    integrated it stands at the base.
    """
    repo = Repository(run.repo, run.created_at)
    begin_step(runner, "merging")
    ready = prepare(repo, run, records)
    plan = make_plan(ready.changes)
    builder = BranchBuilder(repo, run.base, resolve)
    judged = run_gates(builder, run.base, plan, BranchChecks(repo, run, records, runner))
    done = write_final_commits(repo, run.base, plan.without(judged.dropped), judged.built)
    fates = ChangeFates(
        commits=done.commits,
        holders={**plan.absorbed, **judged.built.held},
        conflicts={conflict.change: conflict for conflict in judged.built.conflicts},
        dropped=judged.dropped,
    )
    accounts = (*ready.accounts, *ledger_of(ready.changes, fates))
    outcome = IntegratedBranch(plan, judged, done, accounts, ready.changes)
    return conclude(repo, run, outcome, records, IntegrationTools(builder, runner, trust or AgentTrust()))


class PreparedWork(Struct, frozen=True):
    """The changes of all work that may be integrated, and accounts of the rest."""

    candidates: tuple[TaskRecord, ...]
    changes: tuple[TaskChange, ...]
    accounts: tuple[Account, ...]


class IntegratedBranch(Struct, frozen=True):
    """A branch that passed the gates, and how it came about."""

    plan: BranchPlan
    judged: GateOutcome
    done: FinalCommits
    accounts: tuple[Account, ...]
    changes: tuple[TaskChange, ...]


class IntegrationTools(Struct, frozen=True):
    """What builds, tries and checks commits."""

    builder: BranchBuilder
    runner: Runner
    trust: AgentTrust


def prepare(repo: Repository, run: RunSpec, records: Sequence[TaskRecord]) -> PreparedWork:
    chosen = select_candidates(records)
    parts = split(repo, run, chosen.candidates)
    return PreparedWork(chosen.candidates, parts.changes, (*chosen.accounts, *parts.accounts))


def conclude(
    repo: Repository,
    run: RunSpec,
    outcome: IntegratedBranch,
    records: Sequence[TaskRecord],
    tools: IntegrationTools,
) -> Integration:
    """Gathers the evidence, and only then moves the branch, to commits that passed the check."""
    judged, done = outcome.judged, outcome.done
    begin_step(tools.runner, "evidence for each fix")
    evidence = BranchEvidence(repo, tools.builder, outcome.plan.without(judged.dropped), judged.built)
    integration = Integration(
        base=run.base,
        branch=integrated_branch(run.id),
        tip=done.tip,
        squashed=done.squashed,
        squashed_tasks=tuple(dict.fromkeys(task for change in judged.built.others for task in change.tasks)),
        fixes=evidence.fixes(done.fixes, records, judged.measured, tools.runner),
        accounts=outcome.accounts,
        gates=judged.gates,
        weakenings=evidence.weakenings(run.base),
        shared_problems=shared_problems(outcome.changes),
        added_tests=judged.added,
        conflicts=tuple(conflict.as_record() for conflict in judged.built.conflicts),
        notes=judged.notes,
        measured=judged.measured,
    )
    tools.trust.check(run.base, integration.tip)
    repo.move_branch(integration.branch, integration.tip)
    return integration
