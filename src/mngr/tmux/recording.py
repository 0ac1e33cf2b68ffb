"""What a recorded terminal showed, as an asciicast; `session` starts the recorder."""

import codecs

import msgspec
from msgspec import Struct

from mngr.errors import NotFoundError
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.sh.codes import Exit
from mngr.sh.program import argv
from mngr.store.paths import HostPaths
from mngr.tmux.pane import COLUMNS, ROWS


class PaneRecording(Struct, frozen=True):
    """What the recorder left: raw terminal output, and lines `time size`: when how much of it was there."""

    raw: bytes
    times: bytes
    started_at: float
    ended_at: float
    title: str = ""


def read_recording(host: Host, spec: AgentSpec, started_at: float) -> bytes:
    """An agent's recording so far as an asciicast v2."""
    own = HostPaths(host.dir).agent(spec.id)
    done = host.run(argv("sh/recording", own.dir), timeout_s=300)
    if done.code == Exit.NO_RECORDING:
        raise NotFoundError(
            f'"{spec.name}" has no recording',
            hint=f"ask for one when it is made: mngr create {spec.name} --record",
        )
    head, _, rest = done.check(f'reading the recording of "{spec.name}"').stdout.partition(b"\n")
    changed, _, dated = head.partition(b" ")
    size = int(dated)
    # `1700000000.25`, or `1700000000.%N` from a date that does not know %N.
    whole, _, fraction = changed.partition(b".")
    try:
        ended_at = float(whole + b"." + (fraction if fraction.isdigit() else b"0"))
    except ValueError:
        ended_at = started_at
    return to_asciicast(PaneRecording(rest[size:], rest[:size], started_at, ended_at, spec.name))


def to_asciicast(recording: PaneRecording, *, columns: int = COLUMNS, rows: int = ROWS) -> bytes:
    """An asciicast v2; bytes past the index come when the raw file was last written."""
    header = {
        "version": 2,
        "width": columns,
        "height": rows,
        "timestamp": int(recording.started_at),
        "title": recording.title,
        "env": {"TERM": "screen-256color"},
    }
    lines = [msgspec.json.encode(header)]
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    raw, at, done = recording.raw, 0.0, 0
    times = []
    for line in recording.times.splitlines():
        words = line.split()
        try:
            times.append((float(words[0]), int(words[1])))
        except (IndexError, ValueError):
            continue
    for moment, size in [*times, (recording.ended_at, len(raw))]:
        if size <= done:
            continue
        at = max(at, moment - recording.started_at)
        text = decoder.decode(raw[done:size])
        done = min(size, len(raw))
        if text:
            lines.append(msgspec.json.encode([round(at, 3), "o", text]))
    rest = decoder.decode(b"", final=True)
    if rest:
        lines.append(msgspec.json.encode([round(at, 3), "o", rest]))
    return b"\n".join(lines) + b"\n"
