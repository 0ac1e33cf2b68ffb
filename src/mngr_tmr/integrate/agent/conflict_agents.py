"""Conflicts that the program cannot resolve: an agent for each, one at a time, or an earlier resolution."""

from collections.abc import Iterable, Mapping
from typing import Any

import mngr
from mngr_tmr.git import Repository, is_object_id
from mngr_tmr.integrate.agent.agent_job import AgentJob, run_job
from mngr_tmr.integrate.branch.conflict import Conflict, Resolve
from mngr_tmr.integrate.trust import AgentTrust
from mngr_tmr.model.run import RunSpec
from mngr_tmr.prompts.render import render


def resolve_by_agent(
    run: RunSpec, trust: AgentTrust | None = None, manager: mngr.Manager | None = None
) -> Resolve:
    """Gives each conflict to an agent of its own; one that fails leaves the conflict as it is."""
    repo = Repository(run.repo, run.created_at)

    def resolve(conflict: Conflict) -> str | None:
        job = AgentJob("conflict", conflict.ours, (conflict.theirs,), conflict_prompt(conflict))
        try:
            commit = run_job(repo, run, job, trust or AgentTrust(), manager)
        except mngr.MngrError:
            return None
        return None if repo.tree(commit) == repo.tree(conflict.ours) else repo.tree(commit)

    return resolve


def resolve_as_before(conflicts: Iterable[Mapping[str, Any]], otherwise: Resolve | None = None) -> Resolve:
    """Resolves conflicts as an earlier integration did; the others are given to `otherwise`."""
    known = {
        (conflict["ours"], conflict["theirs"]): str(conflict["resolution"])
        for conflict in conflicts
        if is_object_id(str(conflict.get("resolution", "")))
    }

    def resolve(conflict: Conflict) -> str | None:
        found = known.get((conflict.ours, conflict.theirs))
        return found or (otherwise(conflict) if otherwise else None)

    return resolve


def conflict_prompt(conflict: Conflict) -> str:
    return render(
        "conflict.md.j2",
        theirs=conflict.theirs,
        title=conflict.title,
        tasks=conflict.tasks,
        others=conflict.others,
        files=conflict.files,
        hunks=conflict.hunks,
        messages=conflict.messages,
    )
