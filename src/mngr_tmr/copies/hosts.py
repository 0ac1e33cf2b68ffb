"""How hosts of a run are made, in the words of `create`; the same for agents, copies and the integrator."""

from typing import TypedDict

import mngr
from mngr_tmr.model.run import Knobs


class HostWords(TypedDict, total=False):
    """The options of `create` that are about hosts."""

    provider: str
    snapshot: str
    lease: str


def host_words(knobs: Knobs, manager: mngr.Manager | None) -> HostWords:
    """The provider, the snapshot to start from, and a lease where it can be given: should we vanish, hosts end."""
    words = HostWords(provider=knobs.provider, snapshot=knobs.snapshot)
    if knobs.lease and "lease" in (manager or mngr.Manager()).provider(knobs.provider or "local").options:
        words["lease"] = knobs.lease
    return words
