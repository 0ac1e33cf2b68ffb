"""Ending process trees: the agent's session, its descendants, and whatever still carries its id in its environment."""

from collections.abc import Sequence

from mngr.errors import MngrError
from mngr.hosts.protocol import Host
from mngr.sh.program import READ_AND_RUN, encode
from mngr.sh.quote import quote
from mngr.store.paths import HostPaths
from mngr.tmux.server import tmux_sh

# Prints PID words: in the session of a root (PID:START), marked by environment, or descended from either; never this
# shell, its ancestors and children, nor the tmux server. A root is what a file says, so it must be confirmed: by a
# process of its session that is marked, or by tmux, in whose pane of that agent it runs.
_SCAN = r"""
mngr_scan() {
  marks=$(echo $(grep -l $patterns /proc/[0-9]*/environ 2>/dev/null))
  cat /proc/[0-9]*/stat 2>/dev/null | awk -v me=$$ -v roots="$roots" -v marks="$marks" -v panes="$panes" \
    -v spared="$server" '
    { pid = $1 + 0; rest = $0; sub(/.*\) /, "", rest); split(rest, f, " ")
      if (f[1] == "Z" || f[1] == "X") next
      parent[pid] = f[2]; session[pid] = f[4]; start[pid] = f[20] }
    END {
      n = split(roots, r, " ")
      for (i = 1; i <= n; i++) { split(r[i], w, ":"); if (!(w[1] in start) || start[w[1]] == w[2]) claimed[w[1]] = 1 }
      n = split(marks, m, " ")
      for (i = 1; i <= n; i++) { split(m[i], w, "/"); if (w[3] in parent) hit[w[3]] = 1 }
      for (p in hit) if (session[p] in claimed) root[session[p]] = 1
      n = split(panes, m, " ")
      for (i = 1; i <= n; i++) if (m[i] in claimed) root[m[i]] = 1
      for (p in parent) if (session[p] in root) hit[p] = 1
      do { grown = 0
        for (p in parent) if (!(p in hit) && (parent[p] in hit)) { hit[p] = 1; grown = 1 }
      } while (grown)
      own[me] = 1
      do { grown = 0
        for (p in parent) if (!(p in own) && (parent[p] in own)) { own[p] = 1; grown = 1 }
      } while (grown)
      for (p = me; p > 1 && (p in parent); p = parent[p]) own[p] = 1
      for (p in hit) if (!(p in own) && p != spared && p > 1) printf "%s ", p
      print "end"
    }'
}
mngr_look() {
  left=$(mngr_scan)
  case $left in *end) left=${left%end} ;; *) echo "the processes of this host cannot be seen" >&2; exit 1 ;; esac
}
"""

# Interactive shells ignore TERM and end by HUP. Whoever catches TERM is not sent both: HUP would cut its shutdown
# short. Looked at before TERM is sent: a handler often ignores the next one. TERM is bit 14 of the mask.
_TERMINATE = r"""
mngr_terminate() {
  files=
  for p in $left; do files="$files /proc/$p/status"; done
  shells=
  for file in $(grep -l '^SigIgn:.*[4-7c-f]...$' $files 2>/dev/null); do
    p=${file#/proc/}; shells="$shells ${p%/status}"
  done
  kill -TERM $left 2>/dev/null
  [ -z "$shells" ] || kill -HUP $shells 2>/dev/null
  kill -CONT $left 2>/dev/null
}
"""


def end_trees_script(paths: HostPaths, agent_ids: Sequence[str], grace_s: float) -> str:
    """Shell lines that end these agents' processes: TERM, HUP for shells, KILL after the grace; `$left` survived."""
    patterns = " ".join(f"-e MNGR_AGENT_ID={agent_id}" for agent_id in agent_ids)
    dirs = " ".join(quote(paths.agent(agent_id).dir) for agent_id in agent_ids)
    return f"""\
patterns={quote(patterns)}
roots=
for d in {dirs}; do
  pid=; [ ! -f "$d/pid" ] || [ -L "$d/pid" ] || {{ read -r pid boot was <"$d/pid"; }} 2>/dev/null
  case $pid in ''|*[!0-9]*|????????*) continue ;; esac
  set -f; set -- ${{was##*) }}; set +f
  # Field 22 of the whole line. A `shift` of more words than there are ends some shells.
  [ $# -ge 20 ] || continue
  case ${{20}} in *[!0-9]*) ;; *) roots="$roots $pid:${{20}}" ;; esac
done
set -f; set -- $({tmux_sh(paths)} display-message -p '#{{pid}}' \\; \\
  list-panes -a -F 'of:#{{@mngr_id}} #{{pane_pid}}' 2>/dev/null); set +f
server=${{1-}} panes=
[ $# -eq 0 ] || shift
while [ $# -gt 1 ]; do
  case $1 in of:?*) case $patterns in *"=${{1#of:}}"*) panes="$panes $2" ;; esac ;; esac
  shift 2
done
{_SCAN}
{_TERMINATE}
mngr_look
if [ -n "$left" ]; then
  mngr_terminate
  n=0
  while mngr_look; [ -n "$left" ] && [ "$n" -lt {max(1, int(grace_s / 0.04))} ]; do
    n=$((n + 1)); sleep 0.03
  done
  n=0; clear=0
  while [ "$clear" -lt 2 ] && [ "$n" -lt 200 ]; do
    mngr_look
    if [ -z "$left" ]; then clear=$((clear + 1)); continue; fi
    clear=0; n=$((n + 1))
    kill -STOP $left 2>/dev/null; kill -KILL $left 2>/dev/null
    sleep 0.01
  done
fi
"""


def end_trees(host: Host, agent_ids: Sequence[str], *, grace_s: float) -> None:
    """Ends the processes of these agents on their host, or says which survived."""
    script = end_trees_script(HostPaths(host.dir), agent_ids, grace_s) + 'echo "$left"\n'
    done = host.run(READ_AND_RUN, stdin=encode(script), timeout_s=grace_s + 30)
    survivors = done.text.strip()
    if survivors:
        raise MngrError(
            f"processes {survivors} on {host.name} could not be ended", hint="are they yours to end?"
        )
