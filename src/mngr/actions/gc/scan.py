"""What lies about under a host dir: one portable sh program that names candidates, and its reader.

It only names what no living agent can need whatever happens next; whether an agent owns a work dir is decided
from rows that were looked at afterwards, because an agent's record is there before anything else of it.
"""

from msgspec import Struct

from mngr.hosts.protocol import Host
from mngr.sh.program import READ_AND_RUN, encode, program
from mngr.store.paths import HostPaths
from mngr.tmux.server import tmux_values

WORK, NAME, AGENT_DIR, SESSION = "work dir", "name", "agent dir", "session"
TEMP, SNAPSHOT, SOCKET, LOCK = "temporary file", "unfinished snapshot", "socket", "lock"
REMOVAL = "unfinished removal"


class ScannedItem(Struct, frozen=True):
    """A candidate: its kind, its path or name, and the agent id it carries, if any."""

    kind: str
    what: str
    agent_id: str = ""


def scan(host: Host) -> list[ScannedItem]:
    """One process on the host, however much lies there."""
    paths = HostPaths(host.dir)
    script = program("sh/gc", host_dir=paths.dir, **tmux_values(paths))
    done = host.run(READ_AND_RUN, stdin=encode(script))
    text = done.check(f"looking for unused things on {host.name}").stdout.decode("utf-8", "surrogateescape")
    records = (record.split("\t", 2) for record in text.split("\0") if record)
    return [ScannedItem(kind, what, agent_id) for kind, agent_id, what in records]
