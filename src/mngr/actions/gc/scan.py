"""What lies about under a host dir: one portable sh program that names candidates, and its reader.

It only names what no living agent can need whatever happens next; whether an agent owns a work dir is decided
from rows that were looked at afterwards, because an agent's record is there before anything else of it.
"""

from msgspec import Struct

from mngr.hosts.protocol import Host
from mngr.sh.program import READ_AND_RUN, encode
from mngr.sh.quote import quote
from mngr.store.paths import REMOVED, HostPaths
from mngr.tmux.server import tmux_sh

WORK, NAME, AGENT_DIR, SESSION = "work dir", "name", "agent dir", "session"
TEMP, SNAPSHOT, SOCKET, LOCK = "temporary file", "unfinished snapshot", "socket", "lock"
REMOVAL = "unfinished removal"

# A file that is being written has been touched within a minute, a directory that is being filled within an hour.
_FRESH_FILE_MIN, _FRESH_DIR_MIN = 1, 60


class Litter(Struct, frozen=True):
    """A candidate: its kind, its path or name, and the agent id it carries, if any."""

    kind: str
    what: str
    agent_id: str = ""


def look_for_litter(host: Host) -> list[Litter]:
    """One process on the host, however much lies there."""
    done = host.run(READ_AND_RUN, stdin=encode(_script(HostPaths(host.dir))))
    text = done.check(f"looking for litter on {host.name}").stdout.decode("utf-8", "surrogateescape")
    records = (record.split("\t", 2) for record in text.split("\0") if record)
    return [Litter(kind, what, agent_id) for kind, agent_id, what in records]


def _script(paths: HostPaths) -> str:
    return f"""LC_ALL=C; export LC_ALL
H={quote(paths.dir)}
[ -d "$H" ] || exit 0
say() {{ printf '%s\\t%s\\t%s\\0' "$1" "$2" "$3"; }}
there() {{ [ -e "$1" ] || [ -L "$1" ]; }}
old_file() {{ [ -n "$(find "$1" -prune -mmin +{_FRESH_FILE_MIN} 2>/dev/null)" ]; }}
old_dir() {{ [ -n "$(find "$1" -prune -mmin +{_FRESH_DIR_MIN} 2>/dev/null)" ]; }}
{_OWNED}
{_sessions(paths)}
{_LEFT_OVER}
exit 0
"""


_OWNED = f"""for f in "$H"/names/*; do
  [ -f "$f" ] || continue
  owner=; {{ read -r owner <"$f"; }} 2>/dev/null
  if [ -n "$owner" ]; then [ -d "$H/agents/$owner" ] && continue; else old_file "$f" || continue; fi
  say {quote(NAME)} "$owner" "$f"
done
for f in "$H"/work/* "$H"/work/.[!.]*; do
  case ${{f##*/}} in {REMOVED}*) continue ;; esac
  if there "$f"; then say {quote(WORK)} '' "$f"; fi
done
for f in "$H"/agents/{REMOVED}* "$H"/work/{REMOVED}*; do
  if there "$f"; then say {quote(REMOVAL)} '' "$f"; fi
done
for f in "$H"/agents/*; do
  [ -d "$f" ] && ! there "$f/agent.json" && old_dir "$f" && say {quote(AGENT_DIR)} "${{f##*/}}" "$f"
done"""

_LEFT_OVER = f"""find "$H" -maxdepth 3 \\( -path "$H/work" -prune \\) -o -type f -mmin +{_FRESH_FILE_MIN} \\
  \\( -name '*.new.[0-9]*' -o -name 'bell.[0-9]*' -o -name '.pid' \\) -print | while read -r f; do
  say {quote(TEMP)} '' "$f"
done
for f in "$H"/tmp/*; do
  if there "$f" && old_dir "$f"; then say {quote(TEMP)} '' "$f"; fi
done
for f in "$H"/made/*; do
  [ -f "$f" ] && old_file "$f" && ! there "$(cat "$f")" && say {quote(TEMP)} '' "$f"
done
for f in "$H"/snapshots/*; do
  case $f in *.git) continue ;; esac
  [ -d "$f" ] && ! there "$f/snapshot.json" && old_dir "$f" && say {quote(SNAPSHOT)} '' "$f"
done
for f in "$H"/tmux/*.new.[0-9]* "$H"/names.lock.new.[0-9]* "$H"/agents/*/*.lock.new.[0-9]*; do
  [ -d "$f" ] && old_file "$f" && say {quote(LOCK)} '' "$f"
done"""


def _sessions(paths: HostPaths) -> str:
    socket = quote(paths.socket)
    return f"""if command -v tmux >/dev/null 2>&1; then
  if {tmux_sh(paths)} show-options -s exit-empty >/dev/null 2>&1; then
    {tmux_sh(paths)} list-sessions -F '#{{@mngr_id}} #{{session_name}}' 2>/dev/null | while read -r id name; do
      case $id in agent-*) [ -d "$H/agents/$id" ] || say {quote(SESSION)} "$id" "$name" ;; esac
    done
  elif [ -S {socket} ]; then say {quote(SOCKET)} '' {socket}
  fi
fi"""
