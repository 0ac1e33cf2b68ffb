"""The integrator as an agent: it gets all results and builds the branch, which is judged like any other work."""

from collections.abc import Sequence

from msgspec.structs import replace

import mngr
from mngr_tmr.agent_text import one_line
from mngr_tmr.git import Repository
from mngr_tmr.integrate.agent.agent_job import AgentJob, run_job
from mngr_tmr.integrate.agent.attribution import AttributedBranch, agent_ledger, read_branch
from mngr_tmr.integrate.branch.builder import BranchBuilder
from mngr_tmr.integrate.branch.final_commits import write_final_commits
from mngr_tmr.integrate.gates.branch_checks import BranchChecks
from mngr_tmr.integrate.gates.gates import run_gates
from mngr_tmr.integrate.gates.runner import Runner, begin_step
from mngr_tmr.integrate.integrate import (
    IntegratedBranch,
    IntegrationTools,
    PreparedWork,
    conclude,
    integrate,
    prepare,
)
from mngr_tmr.integrate.trust import AgentTrust
from mngr_tmr.model.integration import Integration
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.run import RunSpec
from mngr_tmr.prompts.render import render


def integrate_by_agent(
    run: RunSpec,
    records: Sequence[TaskRecord],
    *,
    runner: Runner,
    before: Integration | None = None,
    trust: AgentTrust | None = None,
    manager: mngr.Manager | None = None,
) -> Integration:
    """Like `integrate`, with a branch that one agent builds. When it fails, the program builds it and a note says why.

    A branch that an agent built from the same work `before` is used again, without an agent.
    """
    repo, trust = Repository(run.repo, run.created_at), trust or AgentTrust()
    ready = prepare(repo, run, records)
    if not ready.candidates:
        return integrate(run, records, runner=runner, trust=trust)
    required = {commit.id for record in ready.candidates for commit in record.commits}
    integrated = {commit for account in (before.accounts if before else ()) for commit in account.commits}
    begin_step(runner, "an agent builds the branch")
    try:
        tip = before.agent_tip if before and required <= integrated else ""
        tip = tip or run_job(repo, run, integrator_job(run, ready.candidates), trust, manager)
        branch = read_branch(repo, run, tip, ready.changes)
    except mngr.MngrError as error:
        return _without_agent(run, records, runner, trust, one_line(error.message))
    if branch.problem:
        return _without_agent(run, records, runner, trust, branch.problem)
    tools = IntegrationTools(BranchBuilder(repo, run.base), runner, trust)
    return replace(conclude_branch(repo, run, branch, records, tools, ready), agent_tip=tip)


def conclude_branch(
    repo: Repository,
    run: RunSpec,
    branch: AttributedBranch,
    records: Sequence[TaskRecord],
    tools: IntegrationTools,
    ready: PreparedWork,
) -> Integration:
    """The agent's commits through the gates, into the form that every integrated branch has."""
    judged = run_gates(tools.builder, run.base, branch.plan, BranchChecks(repo, run, records, tools.runner))
    done = write_final_commits(repo, run.base, branch.plan.without(judged.dropped), judged.built)
    accounts = (*ready.accounts, *agent_ledger(ready.changes, branch, judged, done))
    outcome = IntegratedBranch(branch.plan, judged, done, accounts, ready.changes)
    return conclude(repo, run, outcome, records, tools)


def integrator_job(run: RunSpec, candidates: Sequence[TaskRecord]) -> AgentJob:
    """All results and branches, for one agent."""
    lines = [f"{record.task.slug} {record.commit} {record.task.node_id}\n" for record in candidates]
    files = {"tmr/tasks.txt": "".join(lines).encode(errors="replace")}
    for record in candidates:
        raw = record.claim.raw if record.claim else ""
        files[f"tmr/results/{record.task.slug}.json"] = raw.encode(errors="replace")
    first = candidates[0]
    prompt = render(
        "integrator.md.j2",
        base=run.base,
        count=len(candidates),
        task=first.task.slug,
        commit=first.commit,
    )
    tips = tuple(record.commit for record in candidates)
    return AgentJob("integrator", run.base, tips, prompt, files)


def _without_agent(
    run: RunSpec, records: Sequence[TaskRecord], runner: Runner, trust: AgentTrust, problem: str
) -> Integration:
    done = integrate(run, records, runner=runner, trust=trust)
    note = f"the integrator agent gave no branch ({problem}), so the program built it"
    return replace(done, notes=(*done.notes, note))
