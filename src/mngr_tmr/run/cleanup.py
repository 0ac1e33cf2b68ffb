"""What a run left in the world besides its folder, and taking it away: agents, copies, branches."""

import os
import shutil

from msgspec import Struct

import mngr
from mngr_tmr.copies.base_snapshot import drop_base_snapshot
from mngr_tmr.copies.copy import RUN_LABEL
from mngr_tmr.copies.hosts import destroy_unfinished
from mngr_tmr.git import Repository
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import integrated_branch
from mngr_tmr.run.polling import agents_of
from mngr_tmr.run_folder.folder import RunFolder


class Branch(Struct, frozen=True):
    """A branch of the run and where it stands."""

    name: str
    commit: str


class Leftovers(Struct, frozen=True):
    """Everything of a run; `kept` is what stays although it is the run's."""

    run: str
    folder: str
    repo: str
    agents: tuple[mngr.Agent, ...] = ()
    branches: tuple[Branch, ...] = ()
    kept: tuple[Branch, ...] = ()
    spec: RunSpec | None = None


def find_leftovers(
    folder: RunFolder, spec: RunSpec, manager: mngr.Manager, *, all_branches: bool
) -> Leftovers:
    """The run's agents, copies and branches; the integrated branch is kept unless all of them are meant."""
    copies = mngr.list_agents(mngr.Filter(labels=(f"{RUN_LABEL}={spec.id}",)), manager=manager).agents
    agents = {agent.id: agent for agent in (*agents_of(spec.id, manager), *copies)}
    branches: tuple[Branch, ...] = ()
    if os.path.isdir(spec.repo):
        output = Repository(spec.repo, 0).ask(
            "for-each-ref", "--format=%(refname:lstrip=2)%00%(objectname)", f"refs/heads/tmr/{spec.id}/"
        )
        branches = tuple(Branch(*line.split("\0")) for line in os.fsdecode(output).splitlines())
    keep = () if all_branches else (integrated_branch(spec.id),)
    return Leftovers(
        spec.id,
        folder.path,
        spec.repo,
        tuple(agents.values()),
        tuple(branch for branch in branches if branch.name not in keep),
        tuple(branch for branch in branches if branch.name in keep),
        spec,
    )


def remove(leftovers: Leftovers, manager: mngr.Manager) -> tuple[str, ...]:
    """Agents, their hosts' snapshot, branches, the folder: what breaks off can be done again.

    Says what it could not take.
    """
    if leftovers.agents:
        mngr.destroy(leftovers.agents, manager=manager)
    if leftovers.spec:
        destroy_unfinished(leftovers.spec, manager)
        drop_base_snapshot(leftovers.spec, manager)
    notes = _remove_branches(leftovers)
    # `run.json` goes last, so that half a deletion is still a run that can be deleted.
    for entry in sorted(os.scandir(leftovers.folder), key=lambda entry: entry.name == "run.json"):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)
    os.rmdir(leftovers.folder)
    return notes


def _remove_branches(leftovers: Leftovers) -> tuple[str, ...]:
    """Each only as long as it stands where it was listed and is not checked out."""
    if not leftovers.branches:
        return ()
    repo, notes = Repository(leftovers.repo, 0), []
    used = repo.checked_out()
    for branch in leftovers.branches:
        if branch.name in used:
            notes.append(f"branch {branch.name} is checked out and stays")
            continue
        done = repo.git("update-ref", "-d", f"refs/heads/{branch.name}", branch.commit)
        if done.code != 0:
            notes.append(f"branch {branch.name} stays: {done.complaint}")
    return tuple(notes)
