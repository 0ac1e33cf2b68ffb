# What a probe of a host prints. It reads regular files up to a size and never follows a link; whatever else it finds in a
# file's place it names.

# Kills this shell and all that it started after $1 seconds: a probe whose manager is gone, or no longer waits, ends by
# itself. The killer ends with the shell, and does nothing once it is no child of it any more.
mngr_end_after() {
  (
    trap 'kill $!; exit 0' TERM
    sleep "$1" & wait $!
    read -r me rest </proc/self/stat || { kill -9 $$; exit 0; }
    rest=${rest##*) }; rest=${rest#* }
    [ "${rest%% *}" = $$ ] || exit 0
    # The shell itself first: with its tmux killed before it, it would go on and report a host without panes.
    # shellcheck disable=SC2046 # one word per process
    kill -9 $$ $(cat /proc/[0-9]*/stat 2>/dev/null | awk -v top=$$ -v me="$me" '
      { pid = $1; sub(/.*\) /, ""); split($0, field, " "); parent[pid] = field[2] }
      END {
        below[top]
        do { grown = 0
          for (p in parent) if (p != me && !(p in below) && (parent[p] in below)) { below[p]; grown = 1 }
        } while (grown)
        for (p in below) print p
      }')
  ) </dev/null >/dev/null 2>&1 &
  mngr_killer=$!
  trap 'kill $mngr_killer 2>/dev/null' EXIT
}

# Prints a look at host dir $1, whose tmux socket is in directory $2, for the agents that match $3, and ends the shell.
# It renews the lease of a host that has one. Logs past 8 KB are read from their fold's offset on, and of what is new the
# last TAIL_LIMIT bytes.
# shellcheck disable=SC2046,SC2086 # globs and lists of names without blanks are split on purpose
mngr_look() {
  LC_ALL=C; export LC_ALL
  b=-; [ -r /proc/sys/kernel/random/boot_id ] && read -r b </proc/sys/kernel/random/boot_id
  now=$(date +%s)
  echo "B $b $now"
  [ ! -f "$1/lease" ] || [ -L "$1/lease" ] || { echo "$now" >"$1/lease"; } 2>/dev/null
  cd "$1/agents" 2>/dev/null || exit 0
  if command -v tmux >/dev/null 2>&1; then
    format='P #{@mngr_id}|#{pane_pid}|#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}|#{pane_dead_time}'
    format="$format|#{pane_tty}|#{session_name}|#{window_index}|#{pane_title}"
    # From inside its directory: the whole path may be too long for a socket's address.
    panes=$(cd "$2" 2>/dev/null && [ -O . ] && tmux -u -N -S socket list-panes -a -F "$format" 2>/dev/null) ||
      echo "T no server"
    # A dead pane without its status: tmux missed that child's end, and the end of another one wakes it.
    case $panes in *"|1||||/"*)
      again=$(cd "$2" && tmux -u -N -S socket run-shell : \; list-panes -a -F "$format" 2>/dev/null) && panes=$again ;;
    esac
    printf '%s\n' "$panes"
  else
    echo "T no tmux"
  fi
  glob=$3
  set -- $glob
  [ -e "$1" ] || [ -L "$1" ] || exit 0
  printf 'D %s\n' "$@"
  for r in $glob/outbox/result.json; do [ -f "$r" ] && echo "R ${r%%/*}"; done
  pids=$glob/pid
  set -- $glob/agent.json $glob/exit.json $glob/events.jsonl $glob/fold.json
  # What is neither a regular file nor small enough, of the five files of an agent that are read: 4 KB, logs 8 KB, folds
  # 256 KB, records 4 MB. find counts blocks of 512 bytes, begun ones too.
  unfit=$(find $pids "$@" -prune ! \( -type f \( -size -9 -o -name events.jsonl -size -17 \
    -o -name fold.json -size -513 -o -name agent.json -size -8193 \) \) -print 2>/dev/null)
  [ -z "$unfit" ] || {
    # Asking find again would miss a log that grew meanwhile.
    others='$0 == "+" { after = 1; next } !after { seen[$0] } after && !($0 in seen)'
    set -- $(printf '%s\n' $unfit + "$@" | awk "$others")
    pids=$(printf '%s\n' $unfit + $pids | awk "$others")
  }
  # Not by `read`: dash reads byte by byte, which costs 0.2 s for a thousand agents.
  grep -asH '' "$@" /dev/null
  # The mark that each process left and the process that has its number now. Read one by one: mawk gives up at the first
  # file that is gone.
  awk 'BEGIN {
    for (i = 1; i < ARGC; i++) {
      dir = ARGV[i]; sub(/\/pid$/, "", dir)
      while ((getline mark < ARGV[i]) > 0) {
        print "I", dir, mark
        split(mark, word, " ")
        if (word[1] !~ /^[0-9]+$/ || length(word[1]) > 7) continue
        file = "/proc/" word[1] "/stat"
        if ((getline now < file) > 0) print "A", dir, now
        close(file)
      }
      close(ARGV[i])
    }
  }' $pids
  [ -d /proc/self ] || for f in $glob/pid; do
    p=; [ ! -f "$f" ] || [ -L "$f" ] || { read -r p rest <"$f"; } 2>/dev/null
    [ -n "$p" ] && kill -0 "$p" 2>/dev/null && echo "A ${f%%/*} ?"
  done
  large=
  for f in $unfit; do
    if [ -L "$f" ] || [ ! -f "$f" ]; then echo "X $f kind"; continue; fi
    case $f in */events.jsonl) large="$large $f" ;; *) echo "X $f size" ;; esac
  done
  # Not by `wc`: busybox reads the whole file for it.
  # shellcheck disable=SC2012,SC2034 # the names are agent ids; columns before the size are not used
  [ -n "$large" ] && ls -ln $large 2>/dev/null | while read -r mode links user group size month day time log; do
    f=${log%/*}/fold.json o=0 fold=
    case "$unfit" in *"$f"*) ;; *) { read -r fold <"$f"; } 2>/dev/null ;; esac
    [ -z "$fold" ] || { o=${fold#*:}; o=${o%%,*}; }
    case $o in ''|*[!0-9]*|????????????????*) o=0 ;; 0?*) o=0 ;; esac
    [ "$o" -gt "$size" ] && o=0
    s=$o
    [ $((size - o)) -le "$TAIL_LIMIT" ] || s=$((size - TAIL_LIMIT))
    echo "O ${log%/*} $o $s"
    # Each line after the log's name, until they are as many bytes as one look reads.
    [ "$s" -ge "$size" ] || tail -c +$((s + 1)) "$log" | awk -v log_name="$log" -v most="$TAIL_LIMIT" '
      { bytes += length($0) + 1; if (bytes > most) exit; print log_name ":" $0 }'
  done
  exit 0
}
