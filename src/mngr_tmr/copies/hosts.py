"""How hosts of a run are made, in the words of `create`; the same for agents, copies and the integrator."""

from typing import TypedDict

import mngr
from mngr_tmr.model.run import RunOptions, RunSpec


class HostWords(TypedDict, total=False):
    """The options of `create` that are about hosts."""

    provider: str
    snapshot: str
    lease: str


def host_words(options: RunOptions, manager: mngr.Manager | None) -> HostWords:
    """The provider, the snapshot to start from, and a lease where it can be given: should we vanish, hosts end."""
    words = HostWords(provider=options.provider, snapshot=options.snapshot)
    if options.lease and "lease" in (manager or mngr.Manager()).provider(options.provider or "local").options:
        words["lease"] = options.lease
    return words


def destroy_unfinished(run: RunSpec, manager: mngr.Manager) -> None:
    """Destroys the hosts that a killed life of the run was still making: with no agent on them, no list names them."""
    if run.options.provider in ("", "local"):
        return
    garbage = mngr.find_garbage(manager=manager)
    left = [item for item in garbage if item.kind == "host" and item.what.startswith(f"tmr-{run.id}-")]
    if left:
        mngr.remove_garbage(left, manager=manager)
