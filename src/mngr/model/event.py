"""An event: one fact in an agent's life, one line of its log."""

from typing import Any

import msgspec
from msgspec import Struct

CREATING = "creating"
CREATED = "created"
STARTED = "started"
EXITED = "exited"
STOPPING = "stopping"
STOPPED = "stopped"
RENAMED = "renamed"
LABELLED = "labelled"
MESSAGE = "message"
PROMPT_SUBMITTED = "prompt_submitted"
TURN_ENDED = "turn_ended"
NEEDS_INPUT = "needs_input"
RESUMED = "resumed"
API_ERROR = "api_error"
SCREEN_UNKNOWN = "screen_unknown"
RESTORED = "restored"


class Event(Struct, frozen=True):
    """`at` is seconds since the epoch on the agent's host; `data` depends on the kind."""

    at: float
    kind: str
    data: dict[str, Any] = {}


def encode_event(event: Event) -> bytes:
    return msgspec.json.encode(event)
