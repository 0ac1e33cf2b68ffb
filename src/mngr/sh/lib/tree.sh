# Ends process trees: the agents' sessions, their descendants, and whatever still carries an agent's id in its environment.
# uses: tmux

# Sets `left` to the processes to end: in the session of a root (PID:START), marked by environment, or descended from
# either; never this shell, its ancestors and children, nor the tmux server. A root is what a file says, so it must be
# confirmed: by a process of its session that is marked, or by tmux, in whose pane of that agent it runs.
mngr_scan() {
  # shellcheck disable=SC2005,SC2086,SC2046,SC2116 # lists of words; echo joins lines
  marks=$(echo $(grep -l $patterns /proc/[0-9]*/environ 2>/dev/null))
  # shellcheck disable=SC2154 # set by mngr_end_trees
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
mngr_find() {
  left=$(mngr_scan)
  case $left in *end) left=${left%end} ;; *) echo "the processes of this host cannot be seen" >&2; exit 1 ;; esac
}
# Interactive shells ignore TERM and end by HUP. A process that catches TERM is not sent both: HUP would cut its shutdown
# short. Looked at before TERM is sent: a handler often ignores the next one. TERM is bit 14 of the mask.
# shellcheck disable=SC2013,SC2086 # one word per process
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
# Ends the processes of the agents whose directories are $2 and so on, with TERM, HUP for shells, and KILL after $1 tries.
# `left` has those that survived.
# shellcheck disable=SC2046,SC2086 # lists of words
mngr_end_trees() {
  tries=$1 patterns= roots=
  shift
  for d; do
    patterns="$patterns -e MNGR_AGENT_ID=${d##*/}"
    pid=; [ ! -f "$d/pid" ] || [ -L "$d/pid" ] || { read -r pid _ was <"$d/pid"; } 2>/dev/null
    case $pid in ''|*[!0-9]*|????????*) continue ;; esac
    set -f; set -- ${was##*) }; set +f
    # Field 22 of the whole line. A `shift` of more words than there are ends some shells.
    [ $# -ge 20 ] || continue
    case ${20} in *[!0-9]*) ;; *) roots="$roots $pid:${20}" ;; esac
  done
  set -f; set -- $(mngr_tmux display-message -p '#{pid}' \; \
    list-panes -a -F 'of:#{@mngr_id} #{pane_pid}' 2>/dev/null); set +f
  server=${1-} panes=
  [ $# -eq 0 ] || shift
  while [ $# -gt 1 ]; do
    case $1 in of:?*) case $patterns in *"=${1#of:}"*) panes="$panes $2" ;; esac ;; esac
    shift 2
  done
  mngr_find
  if [ -n "$left" ]; then
    mngr_terminate
    n=0
    while mngr_find; [ -n "$left" ] && [ "$n" -lt "$tries" ]; do
      n=$((n + 1)); sleep 0.03
    done
    n=0; clear=0
    while [ "$clear" -lt 2 ] && [ "$n" -lt 200 ]; do
      mngr_find
      if [ -z "$left" ]; then clear=$((clear + 1)); continue; fi
      clear=0; n=$((n + 1))
      kill -STOP $left 2>/dev/null; kill -KILL $left 2>/dev/null
      sleep 0.01
    done
  fi
}
