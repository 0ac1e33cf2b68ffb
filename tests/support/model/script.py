"""What the model says: scripts chosen by the last prompt, each a sequence of replies with tool calls between them."""

import itertools
import threading
from typing import Any

from msgspec import Struct

_numbers = itertools.count(1)


class ToolCall(Struct, frozen=True):
    """A tool the agent shall use, by the agent's own name for it."""

    name: str
    input: dict[str, Any]


class Tokens(Struct, frozen=True):
    """What a reply says that it cost."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class Fault(Struct, frozen=True):
    """An answer that is none; the agent's next try gets the next fault, or at last the reply."""

    status: int = 500
    retry_after_s: float | None = None
    cut_after: int | None = None
    """Instead of a status: the stream breaks off after so many events."""
    kind: str = ""
    """What the API calls the error; by default what belongs to the status."""
    message: str = ""


class Reply(Struct, frozen=True):
    """One answer of the model: text, tool calls, or both. Without calls it ends the agent's turn."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    tokens: Tokens | None = None
    delay_s: float = 0
    until: threading.Event | None = None
    """The answer begins when this is set: a turn that lasts as long as the test wants."""
    faults: tuple[Fault, ...] = ()


class Script(Struct, frozen=True):
    """Replies to a prompt that holds `match`, or to any prompt under a system text that holds `system`.

    The first request after the prompt gets the first reply, the one that brings its tool results the second.
    """

    replies: tuple[Reply, ...]
    match: str = ""
    system: str = ""

    def is_for(self, prompt: str, system: str) -> bool:
        return self.match in prompt and self.system in system

    def reply(self, step: int) -> Reply:
        return self.replies[step] if step < len(self.replies) else Reply("That is all.")


class Asked(Struct, frozen=True):
    """One request, as far as a script needs it."""

    api: str
    prompt: str
    """The last text a person wrote."""
    system: str
    step: int
    """How many answers of the model came after that prompt."""
    has_tools: bool
    """Side requests, for titles and the like, have none."""
    stream: bool
    model: str
    body: dict[str, Any]
    headers: dict[str, str]


def tokens_of(reply: Reply, asked: Asked) -> Tokens:
    """What the reply says, or a count that grows with the texts."""
    words = len(reply.text) + sum(len(str(call.input)) for call in reply.calls)
    return reply.tokens or Tokens(input=len(asked.prompt) // 4 + 10, output=words // 4 + 1)


def is_reminder(text: str) -> bool:
    """Whether an agent's program wrote this text into a person's turn."""
    return text.lstrip().startswith("<system-reminder>")


def new_id(kind: str) -> str:
    """An id that no other answer of this process has."""
    return f"{kind}_{next(_numbers):016d}"
