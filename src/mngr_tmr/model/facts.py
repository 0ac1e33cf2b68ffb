"""What an entry of the journal says besides its step, kind and task: one record per sort of fact.

On disk a fact is the entry's `data`, and its key `fact` names the record.
"""

from typing import Any, Literal

from msgspec import Struct, field

from mngr_tmr.model.money import Used

WorkFailureCause = Literal[
    "interrupted",
    "cancelled",
    "timeout",
    "model_error",
    "disappeared",
    "host_lost",
    "ended",
    "unreadable",
    "idle",
    "silent",
    "budget",
    "unknown",
]
SlotsReason = Literal["rate_limit", "memory", "quiet"]
SteeringAction = Literal["pause", "resume", "set", "retry", "cancel"]


class JournalFact(Struct, frozen=True, tag_field="fact", omit_defaults=True):
    """The base of all facts."""


class RunResumed(JournalFact, frozen=True, tag="resumed"):
    """The run is resumed with changed options, and the tasks `again` get a new attempt."""

    options: dict[str, Any] = field(default_factory=dict, name="knobs")
    again: tuple[str, ...] = ()


class RunPaused(JournalFact, frozen=True, tag="paused"):
    """Nothing was decided since then: the process or the machine stood still."""

    since: float


class LaunchingStopped(JournalFact, frozen=True, tag="launching_stopped"):
    """No further agent is launched; `reason` is for people. With the cause "budget" there is an integration."""

    reason: str = ""
    cause: Literal["", "budget"] = ""


class DaySpent(JournalFact, frozen=True, tag="day_spent"):
    """What the agents of all runs here used today before this entry, those of this run included."""

    used: Used = Used()


class AgentsMetered(JournalFact, frozen=True, tag="metered"):
    """What the running agents used so far, by task; an agent that could not be read is left out."""

    used: dict[str, Used] = {}


class FinishRequest(JournalFact, frozen=True, tag="finish"):
    """The message asks the agent to hand over what it has, for this reason."""

    reason: str = ""


class RunInterrupted(JournalFact, frozen=True, tag="interrupted"):
    """A person interrupted the run; with `abort` running agents are stopped too."""

    abort: bool = False


class RunSteered(JournalFact, frozen=True, tag="steered"):
    """A person steers the run while it runs: the name of the request, what it asks for, and who asked.

    Where it was `refused`, that says why, and nothing has changed.
    """

    request: str
    action: SteeringAction
    by: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    refused: str = ""


class StepOverdue(JournalFact, frozen=True, tag="overdue"):
    """A step failed because it did not answer in its time; its answer may still come."""


class HostFailed(JournalFact, frozen=True, tag="host_failed"):
    """A step failed because a host was lost or did not answer: it may succeed later, or on another host."""


class TaskRetried(JournalFact, frozen=True, tag="retried"):
    """The task gets a new attempt because its last one was lost with its host."""


class AgentLimited(JournalFact, frozen=True, tag="limited"):
    """A limit of the model's provider ended the agent's turn: until when, where that is known, and whether it is a
    usage window that is closed. It goes on after a message.
    """

    until: float = 0.0
    is_window: bool = False


class LimitEnded(JournalFact, frozen=True, tag="limit_ended"):
    """The agent is asked to go on after a limit, or goes on by itself."""


class SlotsChanged(JournalFact, frozen=True, tag="slots"):
    """How many agents may be at work at once from now on, and why."""

    slots: int
    reason: SlotsReason


class ProviderRefusal(JournalFact, frozen=True, tag="refused"):
    """The provider refuses for now: the seconds it asks to wait, 0 if it does not say, and a seed.

    The seed makes waits differ, so that steps that were refused together are not tried again together.
    """

    retry_after_s: float = 0.0
    seed: int = 0


class AgentLaunched(JournalFact, frozen=True, tag="launched"):
    """The agent's id and host (empty in older journals); `adopted` if an earlier process had launched it."""

    id: str = ""
    host: str = ""
    adopted: bool = False
    notes: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        return f"{self.id}@{self.host}" if self.host else self.id


class AgentAsks(JournalFact, frozen=True, tag="asks"):
    """The agent waits for a person: "permission" or "input"; empty when it no longer does."""

    asks: str


class AgentSilent(JournalFact, frozen=True, tag="silent"):
    """The agent has shown nothing new since then; 0 when it does again."""

    silent_since: float


class WorkFailed(JournalFact, frozen=True, tag="work_failed"):
    """The agent's work ended without a result. `error` is the kind of a model error that no retry changes."""

    cause: WorkFailureCause = "unknown"
    error: str = ""


class NudgeSent(JournalFact, frozen=True, tag="nudged"):
    """The status of the message's receipt."""

    receipt: str = ""


class PullRequest(JournalFact, frozen=True, tag="pull"):
    """With `salvage`, uncommitted work is pulled too; with `stop_first`, after the agent was stopped."""

    salvage: bool = False
    stop_first: bool = False


class WorkPulled(JournalFact, frozen=True, tag="pulled"):
    """The tip of what the agent committed, the tip's tree, and whether it has something to verify.

    `used` is what the agent used, None where its records could not be read.
    """

    commit: str = ""
    tree: str = ""
    verify: bool = False
    used: Used | None = None


class StopRequest(JournalFact, frozen=True, tag="stop"):
    """What to do with a host of the agent's own: end it, or stop it and keep its files."""

    host: Literal["end", "stop"]


class AgentStopped(JournalFact, frozen=True, tag="stopped"):
    """`host` says what became of a host of the agent's own; "live" if it could not be ended."""

    changed: bool = False
    host: str = ""


class VerifyRequest(JournalFact, frozen=True, tag="verify"):
    """Other tasks with the same tree that share the working copy, and their attempts.

    With `fix`, the tests are run at the commit of that task's attempt, to see whether it fixes them too.
    """

    also: dict[str, int] = {}
    fix: str = ""
    fix_attempt: int = 0


class VerdictsFound(JournalFact, frozen=True, tag="verdicts"):
    """The verdict of the entry's own task, and those of all tasks that shared the working copy."""

    verdict: str = ""
    verdicts: dict[str, str] = {}


class VerifyAgain(JournalFact, frozen=True, tag="verify_again"):
    """A task got no verdict in a shared working copy and is verified again in one of its own."""


class FailureGroup(Struct, frozen=True):
    """Tasks whose tests fail alike at the base commit, in the order in which they get an agent."""

    title: str
    tasks: tuple[str, ...]


class BaseFailures(JournalFact, frozen=True, tag="base_failures"):
    """What failed alike in the first of several runs at the base commit."""

    groups: tuple[FailureGroup, ...] = ()


class BaseMeasured(JournalFact, frozen=True, tag="base"):
    """How many tests were run at the base commit, and what failed alike there.

    `not_passed` are those of the tasks without an agent that need one after all.
    """

    tests: int = 0
    groups: tuple[FailureGroup, ...] = ()
    not_passed: tuple[str, ...] = ()


class CauseRepeated(JournalFact, frozen=True, tag="cause_repeated"):
    """Tasks failed at one stage with one cause; its likely `kind`, with `evidence`. With `pauses`, launches wait."""

    cause: str
    stage: str = ""
    title: str = ""
    tasks: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    agent_types: tuple[str, ...] = ()
    kind: str = ""
    evidence: str = ""
    pauses: bool = False


class BreakerProbe(JournalFact, frozen=True, tag="probe"):
    """While launches are paused this task is launched, to see whether the cause is gone."""


class IntegrationRepeated(JournalFact, frozen=True, tag="integrate_again"):
    """The integration was asked for after the run was over."""


class BranchBuilt(JournalFact, frozen=True, tag="integrated"):
    """The integrated branch and its tip."""

    branch: str = ""
    tip: str = ""


AnyFact = (
    RunResumed
    | RunPaused
    | LaunchingStopped
    | DaySpent
    | AgentsMetered
    | FinishRequest
    | RunInterrupted
    | RunSteered
    | StepOverdue
    | HostFailed
    | AgentLimited
    | LimitEnded
    | SlotsChanged
    | TaskRetried
    | ProviderRefusal
    | AgentLaunched
    | AgentAsks
    | AgentSilent
    | WorkFailed
    | NudgeSent
    | PullRequest
    | WorkPulled
    | StopRequest
    | AgentStopped
    | VerifyRequest
    | VerdictsFound
    | VerifyAgain
    | BaseFailures
    | BreakerProbe
    | CauseRepeated
    | BaseMeasured
    | IntegrationRepeated
    | BranchBuilt
)
