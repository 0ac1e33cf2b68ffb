"""What a run left in the world besides its folder, and taking it away: agents, copies, branches."""

import os
import time
from collections.abc import Iterable

from msgspec import Struct

import mngr
from mngr_tmr.copies.base_snapshot import drop_base_snapshot, find_base_snapshot
from mngr_tmr.copies.copy import RUN_LABEL
from mngr_tmr.copies.hosts import destroy_unfinished
from mngr_tmr.git import Repository
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import integrated_branch
from mngr_tmr.run.polling import RUN
from mngr_tmr.run_folder.evidence import (
    EvidenceDeleted,
    FolderSize,
    folder_size,
    has_evidence,
    remove_evidence,
    remove_files,
)
from mngr_tmr.run_folder.folder import RunFolder, read_spec


class Branch(Struct, frozen=True):
    """A branch of the run and where it stands."""

    name: str
    commit: str


class Leftovers(Struct, frozen=True):
    """Everything of a run; `kept` is what stays although it is the run's. With `keeps_reports` these stay too."""

    folder: RunFolder
    spec: RunSpec
    size: FolderSize
    agents: tuple[mngr.Agent, ...] = ()
    branches: tuple[Branch, ...] = ()
    kept: tuple[Branch, ...] = ()
    snapshot: str = ""
    keeps_reports: bool = False

    @property
    def run(self) -> str:
        return self.spec.id

    @property
    def freed(self) -> int:
        """Bytes on this machine's disk."""
        return self.size.evidence if self.keeps_reports else self.size.evidence + self.size.reports

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to delete but the reports, which stay."""
        others = self.agents or self.branches or self.snapshot
        return self.keeps_reports and not others and not has_evidence(self.folder)


def find_leftovers(
    folder: RunFolder,
    agents: Iterable[mngr.Agent],
    manager: mngr.Manager,
    *,
    all_branches: bool = False,
    keeps_reports: bool = False,
) -> Leftovers:
    """What of these agents, and what else, is the run's; the integrated branch is kept unless all of them are meant."""
    spec = read_spec(folder)
    branches: tuple[Branch, ...] = ()
    if os.path.isdir(spec.repo):
        output = Repository(spec.repo, 0).ask(
            "for-each-ref", "--format=%(refname:lstrip=2)%00%(objectname)", f"refs/heads/tmr/{spec.id}/"
        )
        branches = tuple(Branch(*line.split("\0")) for line in os.fsdecode(output).splitlines())
    keep = () if all_branches else (integrated_branch(spec.id),)
    return Leftovers(
        folder,
        spec,
        folder_size(folder),
        tuple(agent for agent in agents if spec.id in (agent.labels.get(RUN), agent.labels.get(RUN_LABEL))),
        tuple(branch for branch in branches if branch.name not in keep),
        tuple(branch for branch in branches if branch.name in keep),
        find_base_snapshot(spec, manager),
        keeps_reports,
    )


def remove(leftovers: Leftovers, manager: mngr.Manager) -> tuple[str, ...]:
    """Agents, their hosts' snapshot, branches, the folder: what breaks off can be done again.

    Says what it could not take.
    """
    if leftovers.agents:
        mngr.destroy(leftovers.agents, manager=manager)
    destroy_unfinished(leftovers.spec, manager)
    drop_base_snapshot(leftovers.spec, manager)
    notes = _remove_branches(leftovers)
    if not leftovers.keeps_reports:
        remove_files(leftovers.folder)
        os.rmdir(leftovers.folder.path)
    elif has_evidence(leftovers.folder):
        agents = tuple(agent.address for agent in leftovers.agents)
        branches = tuple(branch.name for branch in leftovers.branches)
        remove_evidence(
            leftovers.folder,
            EvidenceDeleted(time.time(), leftovers.freed, agents, branches, leftovers.snapshot),
        )
    return notes


def _remove_branches(leftovers: Leftovers) -> tuple[str, ...]:
    """Each only as long as it stands where it was listed and is not checked out."""
    if not leftovers.branches:
        return ()
    repo, notes = Repository(leftovers.spec.repo, 0), []
    used = repo.checked_out()
    for branch in leftovers.branches:
        if branch.name in used:
            notes.append(f"branch {branch.name} is checked out and stays")
            continue
        done = repo.git("update-ref", "-d", f"refs/heads/{branch.name}", branch.commit)
        if done.code != 0:
            notes.append(f"branch {branch.name} stays: {done.complaint}")
    return tuple(notes)
