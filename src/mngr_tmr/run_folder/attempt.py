"""What one attempt at a task left in the run's folder: the pulled branch and the agent's result."""

import os

from msgspec import Struct

from mngr_tmr.model.result import RAW_LIMIT, Claim, read_claim
from mngr_tmr.model.task import Task
from mngr_tmr.run_folder.folder import RunFolder

OUTBOX = "outbox"
_RESULT = "result.json"


class PulledAttempt(Struct, frozen=True):
    """`pulled.json`: what came home of one attempt."""

    branch: str = ""
    commit: str = ""
    notes: tuple[str, ...] = ()
    tree: str = ""


def read_attempt_claim(folder: RunFolder, task: Task, attempt: int) -> Claim | None:
    """The result file of an attempt as it was received; None when there is none."""
    path = os.path.join(folder.attempt(task.slug, attempt), OUTBOX, _RESULT)
    if os.path.islink(path):
        return Claim(problem="the result is a link, not a file")
    try:
        with open(path, "rb") as file:
            return read_claim(file.read(RAW_LIMIT + 1), task.node_id)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Claim(problem=f"the result cannot be read: {error.strerror}")


def needs_verdict(claim: Claim | None, commit: str, base: str) -> bool:
    """Only a readable result with commits has something to verify; at the base commit the verdict is known."""
    if claim is None or claim.result is None or claim.problem:
        return False
    return bool(commit) and commit != base and claim.result.outcome != "blocked"
