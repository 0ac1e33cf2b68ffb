"""How many agents run at once by default: from the machine's cores and memory."""

import os

from msgspec.structs import replace

import mngr
from mngr_lib.proc import available_memory
from mngr_tmr.model.run import RunOptions

_AGENT_BYTES = 500 << 20
_PER_CORE = 4
_REMOTE = 20
_MOST = 32
_FEWEST_HOSTS = 2


def default_slots(provider: str) -> tuple[int, str]:
    """The number and why; agents on other hosts do not use this machine's memory."""
    if provider not in ("", "local"):
        return _REMOTE, f"{_REMOTE} slots: agents run on {provider}"
    cores, memory = os.cpu_count() or 1, available_memory()
    by_memory = max(1, memory // 2 // _AGENT_BYTES)
    slots = max(1, min(_PER_CORE * cores, by_memory, _MOST))
    return slots, f"{slots} slots: {cores} cores, {memory >> 30} GiB of memory free"


def with_numbers(options: RunOptions, manager: mngr.Manager) -> tuple[RunOptions, str]:
    """The options with their missing numbers filled in, and a text that says where the numbers come from.

    Where the provider makes a host for each agent, these and the hosts of verifications share a maximum, and the number
    of verifications at once follows from it instead of from this machine's cores. Hosts that are kept have none.
    """
    slots, why = (
        (options.slots, f"{options.slots} slots, as asked")
        if options.slots
        else default_slots(options.provider)
    )
    if not manager.makes_hosts(options.provider):
        cores = max(1, os.cpu_count() or 1)
        return replace(options, slots=slots, verifiers=options.verifiers or cores, max_hosts=0), why
    most = options.max_hosts or manager.host_limit(options.provider) or slots + max(slots // 2, 1)
    if most < _FEWEST_HOSTS:
        raise mngr.UsageError(
            f"{most} hosts at once are too few",
            hint=f"max_hosts is {_FEWEST_HOSTS} or more: an integration has a copy beside its agent",
        )
    if not options.slots and slots > most * 2 // 3:
        slots = max(1, most * 2 // 3)
        why = f"{slots} slots: two thirds of the hosts"
    verifiers = options.verifiers or max(1, min(most - slots, slots))
    if options.keep:
        return replace(options, slots=slots, verifiers=verifiers, max_hosts=0), f"{why}, hosts are kept"
    return replace(
        options, slots=slots, verifiers=verifiers, max_hosts=most
    ), f"{why}, at most {most} hosts at once"
