"""What agents of the integration may see, and the check that their commits must pass."""

from collections.abc import Callable, Mapping

from msgspec import Struct


class AgentTrust(Struct, frozen=True):
    """What agents of the integration are given, and what their commits must pass.

    `check` gets two commits and raises a MngrError when what lies between them must not be used.
    """

    env: Mapping[str, str] = {}
    check: Callable[[str, str], None] = lambda *_: None
