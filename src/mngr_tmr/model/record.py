"""What became of one task: computed from the journal and the run's folder, read by integrate and report."""

from typing import Literal

from msgspec import Struct

from mngr_tmr.model.facts import WorkFailureCause
from mngr_tmr.model.result import ChangeKind, Claim
from mngr_tmr.model.task import Task
from mngr_tmr.model.usage import NO_USAGE, AgentUsage
from mngr_tmr.model.verdict import Verified

End = Literal["result", "failed", "running", "queued", "not_run", "skipped"]


class Commit(Struct, frozen=True):
    """A commit of an agent's branch: the kind it claims, and the kind its paths show."""

    id: str
    subject: str
    claimed: ChangeKind | None
    kind: ChangeKind
    paths: tuple[str, ...]

    @property
    def is_mislabelled(self) -> bool:
        return self.kind == "implementation" and self.claimed not in (None, "implementation")


class TaskSpan(Struct, frozen=True):
    """A stretch of a task's life, for the timeline."""

    kind: Literal["queue", "launch", "work", "pull", "stop", "verify"]
    start: float
    end: float


class StageSpan(Struct, frozen=True):
    """A step of the integration, for the timeline."""

    step: str
    start: float
    end: float


class TaskRecord(Struct, frozen=True):
    """One row. `end` is "failed" when a step of ours failed: then `stage` and `message` say which and why.

    `usage` is that of all its attempts. `asks` and `question` are set while its agent waits for a person.
    `cause` says why the agent's work ended without a result.
    `fixed_by` is the task whose fix was found to fix this one too, without an agent of its own.
    `before` is the verdict on the base commit, `after` the one at `commit`, the tip of what the agent committed.
    """

    task: Task
    end: End
    attempt: int = 0
    agent: str = ""
    stage: str = ""
    message: str = ""
    claim: Claim | None = None
    before: Verified | None = None
    after: Verified | None = None
    branch: str = ""
    commit: str = ""
    commits: tuple[Commit, ...] = ()
    folder: str = ""
    spans: tuple[TaskSpan, ...] = ()
    usage: AgentUsage = NO_USAGE
    notes: tuple[str, ...] = ()
    asks: str = ""
    question: str = ""
    cause: WorkFailureCause | Literal[""] = ""
    fixed_by: str = ""

    @property
    def worked_s(self) -> float:
        """How long its agents were at work."""
        return sum(span.end - span.start for span in self.spans if span.kind == "work")
