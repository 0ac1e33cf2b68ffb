"""The first process of a host that is made for agents. The host lives as long as it does.

It ends by itself when the host's time is over, when no agent has worked for the idle timeout, or when no manager has
renewed the lease: every poll of a manager renews it. Its exit code says which of these it was. The program is
`sh/watchdog.sh`.
"""

import math

from mngr.errors import UsageError
from mngr.model.duration import parse_duration
from mngr.model.host import HostSpec
from mngr.sh.codes import Exit
from mngr.sh.program import argv
from mngr.store.paths import HostPaths

OPTIONS = frozenset({"timeout", "idle_timeout", "lease"})
_ENDS: dict[int, str] = {
    Exit.TIME_OVER: "its time was over",
    Exit.IDLE: "no agent worked for its idle timeout",
    Exit.LEASE_OVER: "no manager looked at it for its lease",
}
_LONGEST_TICK_S = 20
_FOREVER_S = 86400


def watchdog_argv(spec: HostSpec, host_dir: str) -> tuple[str, ...]:
    """The command that a new host begins with; it needs sh and what every host has."""
    seconds: dict[str, int] = {}
    for option in ("timeout", "idle_timeout", "lease"):
        text = getattr(spec, option)
        seconds[option] = math.ceil(parse_duration(text)) if text else 0
        if text and seconds[option] < 1:
            raise UsageError(
                f"--{option.replace('_', '-')} {text} is not a length of time", hint="write 90, 10m or 2h"
            )
    shortest = min(filter(None, seconds.values()), default=0)
    tick = max(1, min(_LONGEST_TICK_S, shortest // 4)) if shortest else _FOREVER_S
    words = (str(length or "") for length in seconds.values())
    paths = HostPaths(host_dir)
    return argv("sh/watchdog", paths.dir, paths.tmux, str(tick), *words)


def why_ended(code: int) -> str:
    """Why a host ended by itself, from its first process's exit code; empty where it was stopped or something else."""
    return _ENDS.get(code, "")
