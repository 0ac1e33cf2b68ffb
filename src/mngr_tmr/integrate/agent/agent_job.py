"""A job for one agent: creates it, waits, pulls its branch, and destroys it also after an error."""

import os
from collections.abc import Mapping
from contextlib import suppress

from msgspec import Struct

import mngr
from mngr_tmr.copies.capacity_wait import wait_for_capacity
from mngr_tmr.copies.copy import RUN_LABEL
from mngr_tmr.copies.hosts import host_words
from mngr_tmr.git import Repository, TreeEntry
from mngr_tmr.integrate.publish.push import TOKEN_NAMES
from mngr_tmr.integrate.trust import AgentTrust
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.slug import agent_name


class AgentJob(Struct, frozen=True):
    """What to do, starting from a commit. It also finds the commits `along`, and files under $MNGR_BASE_COMMIT."""

    name: str
    start: str
    along: tuple[str, ...]
    prompt: str
    files: dict[str, bytes] = {}


def run_job(
    repo: Repository, run: RunSpec, job: AgentJob, trust: AgentTrust, manager: mngr.Manager | None
) -> str:
    """The commit that the agent left on its branch; at the deadline what is there by then.

    The other commits travel as parents of the one that the copy is made from, and the files in its tree, so that any
    transfer copies them and none is in the agent's working tree.
    """
    entries = [TreeEntry(path, "100644", repo.write_blob(data)) for path, data in job.files.items()]
    tree = repo.compose(job.start, entries) if entries else f"{job.start}^{{tree}}"
    parents = dict.fromkeys((job.start, *job.along))
    source = repo.commit(tree, tuple(parents), f"what the {job.name} works with")
    agent = wait_for_capacity(lambda: _create(run, job, source, trust.env, manager), lambda _: None)
    try:
        with suppress(mngr.TimedOutError):
            for _ in mngr.wait(agent, timeout_s=run.options.timeout_s, manager=manager):
                pass
        commit = mngr.pull(agent, manager=manager).after
    finally:
        mngr.destroy(agent, manager=manager)
    trust.check(source, commit)
    return commit


def _create(
    run: RunSpec, job: AgentJob, source: str, env: Mapping[str, str], manager: mngr.Manager | None
) -> mngr.Agent:
    options, own = run.options, f"{job.name}-{os.urandom(3).hex()}"
    passed = [key for key in options.integrator_env_names if options.push or key not in TOKEN_NAMES]
    name = agent_name("tmr", run.id, own)
    try:
        return mngr.create(
            name,
            type=options.integrator_type or options.type,
            args=options.integrator_args
            if options.integrator_type or options.integrator_args
            else options.args,
            source=run.repo,
            transfer=options.transfer,
            branch=f"{source}:tmr/{run.id}/{own}",
            setup=f"git reset -q --hard {job.start}\n{options.setup}",
            message=job.prompt,
            env={key: env[key] for key in passed if key in env},
            labels={**options.labels, **mngr.owner_labels(), RUN_LABEL: run.id, "tmr-integrator": job.name},
            record=options.record,
            manager=manager,
            **host_words(options, manager),
        ).agent
    except (mngr.AgentDiedError, mngr.BlockedError):
        with suppress(mngr.NotFoundError):
            mngr.destroy(name, manager=manager)
        raise
