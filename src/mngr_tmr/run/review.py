"""Whether the result of a run has been reviewed: its branch merged, deleted, or marked as reviewed."""

import os
import time

import msgspec
from msgspec import Struct

import mngr
from mngr_lib.files import read_regular
from mngr_tmr.git import Repository
from mngr_tmr.model.task import integrated_branch
from mngr_tmr.run_folder.folder import RunFolder, read_spec

_NAME = "reviewed.json"
_MOST_BYTES = 1 << 16


class ReviewMark(Struct, frozen=True):
    """A person has looked at the branch as it stood then."""

    commit: str
    at: float


def mark_reviewed(folder: RunFolder) -> str:
    """Marks the branch as it stands now; its name."""
    spec = read_spec(folder)
    name = integrated_branch(spec.id)
    commit = Repository(spec.repo, 0).branch(name)
    if not commit:
        raise mngr.NotFoundError(
            f'run "{spec.id}" has no branch to review', hint="mngr tmr runs shows branches"
        )
    folder.writer.write_json(os.path.join(folder.path, _NAME), ReviewMark(commit, time.time()))
    return name


def unreviewed_branch(folder: RunFolder, base: str) -> str:
    """The name of the run's branch while it waits for a review; empty when it does not.

    It is merged when merging it into `base` changes nothing, however it was merged.
    """
    spec = read_spec(folder)
    repo, name = Repository(spec.repo, 0), integrated_branch(spec.id)
    commit = repo.branch(name)
    if not commit or commit in (spec.base, _marked(folder)):
        return ""
    merged = repo.merge(base, commit)
    return "" if merged.is_clean and merged.tree == repo.tree(base) else name


def _marked(folder: RunFolder) -> str:
    """The commit that was marked; a mark that cannot be read is none."""
    try:
        data = read_regular(os.path.join(folder.path, _NAME), _MOST_BYTES)
        return msgspec.json.decode(data, type=ReviewMark).commit
    except (OSError, msgspec.MsgspecError, ValueError):
        return ""
