"""The first process of a host that is made for agents. The host lives as long as it does.

It ends by itself when the host's time is over, when no agent has worked for the idle timeout, or when no manager has
renewed the lease: every poll of a manager renews it. Its exit code says which of these it was.
"""

import math

from mngr.errors import UsageError
from mngr.model.duration import parse_duration
from mngr.model.event import (
    NEEDS_INPUT,
    PROMPT_SUBMITTED,
    RESUMED,
    SCREEN_UNKNOWN,
    STARTED,
    STOPPED,
    TURN_ENDED,
)
from mngr.model.host import HostSpec
from mngr.store.paths import HostPaths

OPTIONS = frozenset({"timeout", "idle_timeout", "lease"})
_ENDS = {
    40: "its time was over",
    41: "no agent worked for its idle timeout",
    42: "no manager looked at it for its lease",
}
_LONGEST_TICK_S = 20
_FOREVER_S = 86400

# $1 host dir, $2 the directory of the tmux socket, $3 seconds between looks, $4 to live, $5 to idle, $6 of lease;
# empty: without end. Time is counted, not read: a clock that is set, or a host that was paused, ends nothing.
_PROGRAM = f"""exec </dev/null >/dev/null 2>&1
umask 077
dir=$1 tmux=$2 tick=$3 life=$4 idle=$5 lease=$6
lives() {{
  [ ! -e "$1/exit.json" ] && [ -f "$1/pid" ] && read -r pid boot before <"$1/pid" || return 1
  [ -d /proc/self ] || {{ kill -0 "$pid"; return; }}
  read -r now <"/proc/$pid/stat" || return 1
  now=${{now##*) }} before=${{before##*) }}
  case $now in Z*|X*) return 1 ;; esac
  set -- $now; now=${{20}}
  set -- $before
  [ "$now" = "${{20}}" ]
}}
waits() {{
  [ -f "$1/events.jsonl" ] && tail -c 65536 "$1/events.jsonl" |
    grep -Eo '"kind":"({STARTED}|{PROMPT_SUBMITTED}|{RESUMED}|{SCREEN_UNKNOWN}|{TURN_ENDED}|{NEEDS_INPUT})"' |
    tail -n 1 | grep -Eq '{TURN_ENDED}|{NEEDS_INPUT}'
}}
works() {{
  [ -d "$dir/agents" ] || return 0
  for agent in "$dir"/agents/agent-*; do
    [ -d "$agent" ] || continue
    [ -e "$agent/pid" ] || [ -e "$agent/exit.json" ] || return 0
    lives "$agent" && ! waits "$agent" && return 0
  done
  [ -n "$(cd "$tmux" && tmux -N -S socket list-clients)" ]
}}
end() {{
  for agent in "$dir"/agents/agent-*; do
    [ -f "$agent/events.jsonl" ] && lives "$agent" &&
      printf '{{"at":%s,"kind":"{STOPPED}"}}\\n' "$(date +%s)" >>"$agent/events.jsonl"
  done
  exit "$1"
}}
trap 'end 0' TERM INT
[ -z "$lease" ] || {{ mkdir -p "$dir"; echo 0 >"$dir/lease"; }}
lived=0 idled=0 alone=0 seen=
while :; do
  # Waiting also buries the orphans of a host whose first process this is.
  sleep "$tick" & wait $!
  lived=$((lived + tick)) idled=$((idled + tick)) alone=$((alone + tick))
  [ -z "$life" ] || [ "$lived" -lt "$life" ] || end 40
  [ -z "$idle" ] || ! works || idled=0
  [ -z "$idle" ] || [ "$idled" -lt "$idle" ] || end 41
  [ -z "$lease" ] || {{ [ ! -f "$dir/lease" ] || read -r now <"$dir/lease"
    [ "$now" = "$seen" ] || {{ seen=$now alone=0; }}; }}
  [ -z "$lease" ] || [ "$alone" -lt "$lease" ] || end 42
done
"""


def watchdog_argv(spec: HostSpec, host_dir: str) -> tuple[str, ...]:
    """The command that a new host begins with; it needs sh and what every host has."""
    limits = {option: getattr(spec, option) for option in ("timeout", "idle_timeout", "lease")}
    seconds = {option: _whole(option, text) if text else 0 for option, text in limits.items()}
    shortest = min(filter(None, seconds.values()), default=0)
    tick = max(1, min(_LONGEST_TICK_S, shortest // 4)) if shortest else _FOREVER_S
    words = (str(length or "") for length in seconds.values())
    paths = HostPaths(host_dir)
    return ("sh", "-c", _PROGRAM, "mngr-watchdog", paths.dir, paths.tmux, str(tick), *words)


def why_ended(code: int) -> str:
    """Why a host ended by itself, from its first process's exit code; empty where it was stopped or something else."""
    return _ENDS.get(code, "")


def _whole(option: str, text: str) -> int:
    seconds = math.ceil(parse_duration(text))
    if seconds < 1:
        raise UsageError(
            f"--{option.replace('_', '-')} {text} is not a length of time", hint="write 90, 10m or 2h"
        )
    return seconds
