"""The limits of a run, as they were asked for."""

from msgspec import Struct


class RunLimits(Struct, frozen=True):
    """What `resume` may change for what is left.

    `context_tokens` is what an agent is expected to use where no past run tells: the least and the most.
    With `group`, tests that fail alike get one agent first, and its fix is tried on the others.
    """

    context_tokens: tuple[int, int] = (20_000, 50_000)
    group: bool = True
