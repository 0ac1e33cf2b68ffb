"""What one look at the agents showed, and for how long it has been so."""

from typing import Literal

from msgspec import Struct

Mood = Literal["working", "waiting", "ended", "unknown"]


class Seen(Struct, frozen=True):
    """One agent in one look. `activity` is any text that changes while the agent does something.

    `asks` is "permission" or "input" while it waits for a person, and `question` what its screen says then.
    `error` is what the model said when it ended the last turn for good, and `error_kind` which kind of error that is:
    trying again changes nothing.
    """

    agent: str
    mood: Mood
    has_result: bool = False
    how: str = ""
    activity: str = ""
    asks: str = ""
    question: str = ""
    error: str = ""
    error_kind: str = ""


class Look(Struct, frozen=True):
    """All agents of the run that could be seen; `is_whole` is False when a host did not answer.

    `problem` says what kept the look from being made, where that was more than a silent host.
    """

    at: float
    seen: dict[str, Seen]
    is_whole: bool = True
    problem: str = ""


class Sight(Struct, frozen=True):
    """An agent over several looks: since when its mood, its result and its screen have been as they are.

    `unchanged_looks` is how many looks in a row showed the same mood and screen after the first that did.
    """

    seen: Seen
    mood_since: float
    active_at: float
    result_since: float | None = None
    missing_since: float | None = None
    unchanged_looks: int = 0


def follow(before: Sight | None, seen: Seen | None, look: Look) -> Sight | None:
    """The sight after one more look; of an agent whose host did not answer it says nothing new."""
    if seen is not None and seen.mood == "unknown" and not look.is_whole:
        return before
    if seen is None:
        if not look.is_whole or (before is not None and before.missing_since is not None):
            return before
        if before is None:
            return Sight(Seen("", "unknown"), look.at, look.at, missing_since=look.at)
        return Sight(before.seen, before.mood_since, before.active_at, before.result_since, look.at)
    if before is None:
        return Sight(seen, look.at, look.at, look.at if seen.has_result else None)
    same_mood = seen.mood == before.seen.mood and before.missing_since is None
    is_unchanged = same_mood and seen.activity == before.seen.activity
    return Sight(
        seen,
        before.mood_since if same_mood else look.at,
        before.active_at if is_unchanged else look.at,
        (before.result_since or look.at) if seen.has_result else None,
        unchanged_looks=before.unchanged_looks + 1 if is_unchanged else 0,
    )
