"""What one poll of the agents showed, and since when it has been so."""

from typing import Literal

from msgspec import Struct

from mngr_tmr.model.rate_limit import RateLimit

Activity = Literal["working", "waiting", "ended", "unknown"]


class AgentStatus(Struct, frozen=True):
    """One agent in one poll. `progress_mark` is any text that changes while the agent does something.

    `asks` is "permission" or "input" while it waits for a person, and `question` is what its screen shows then.
    `error` is the model's error that ended the last turn: one that no retry changes, and then `error_kind` is its kind,
    or a `limit` of the model's provider. `has_lost_host` says that it ended because its host did.
    """

    agent: str
    activity: Activity
    has_result: bool = False
    how: str = ""
    progress_mark: str = ""
    asks: str = ""
    question: str = ""
    error: str = ""
    error_kind: str = ""
    has_lost_host: bool = False
    limit: RateLimit | None = None


class Poll(Struct, frozen=True):
    """The status of every agent of the run that answered; `is_whole` is False when a host did not answer.

    `problem` is the error that made the poll fail, if it was more than a silent host. `is_memory_short` is about
    this machine, where its agents are.
    """

    at: float
    agents: dict[str, AgentStatus]
    is_whole: bool = True
    problem: str = ""
    is_memory_short: bool = False


class Observation(Struct, frozen=True):
    """An agent over several polls: its last status, and since when its activity and its result are unchanged.

    `unchanged_polls` counts the polls in a row with the same activity and progress mark, after the first of them.
    """

    status: AgentStatus
    activity_since: float
    changed_at: float
    result_since: float | None = None
    missing_since: float | None = None
    unchanged_polls: int = 0


def follow(before: Observation | None, status: AgentStatus | None, poll: Poll) -> Observation | None:
    """The observation after one more poll; an agent whose host did not answer keeps the one it had."""
    if status is not None and status.activity == "unknown" and not poll.is_whole:
        return before
    if status is None:
        if not poll.is_whole or (before is not None and before.missing_since is not None):
            return before
        if before is None:
            return Observation(AgentStatus("", "unknown"), poll.at, poll.at, missing_since=poll.at)
        return Observation(
            before.status, before.activity_since, before.changed_at, before.result_since, poll.at
        )
    if before is None:
        return Observation(status, poll.at, poll.at, poll.at if status.has_result else None)
    same_activity = status.activity == before.status.activity and before.missing_since is None
    is_unchanged = same_activity and status.progress_mark == before.status.progress_mark
    return Observation(
        status,
        before.activity_since if same_activity else poll.at,
        before.changed_at if is_unchanged else poll.at,
        (before.result_since or poll.at) if status.has_result else None,
        unchanged_polls=before.unchanged_polls + 1 if is_unchanged else 0,
    )
