# Writes when how much of each recording under AGENTS was there, as lines `time size` in `raw.tim`. One runs per host; it
# ends by itself with the last living recorded pane. LOCK is its lock.
#
# It releases the lock before its last look for recorded panes: a pane that came meanwhile either found the lock free, and
# has its own writer, or is seen by this one.
# uses: lock tmux
cd "$AGENTS" || exit 1
mngr_lock_at "$LOCK"
mngr_take 0 || exit 0
LC_ALL=C; export LC_ALL
# Sizes come from `ls -ln`: busybox's wc reads whole files.
mngr_tick() {
  echo "@$(date +%s.%N)" || return 1
  # shellcheck disable=SC2012 # the names are agent ids
  ls -ln -- */raw 2>/dev/null
  :
}
mngr_recorded() {
  mngr_tmux list-panes -a -F '#{?pane_dead,0,#{pane_pipe}}' 2>/dev/null | grep -q 1
}
mngr_ticks() {
  n=0
  while mngr_tick; do
    n=$((n + 1))
    if [ "$n" -ge 15 ]; then
      n=0
      if ! mngr_recorded; then
        mngr_drop
        mngr_recorded && mngr_take 0 || break
      fi
    fi
    sleep 0.2 9>&- || sleep 1 9>&- || break
  done
  mngr_tick
}
# A date without %N gets its fraction from the ticks since the second began. A writer that starts late does not date again
# what an earlier one has dated.
mngr_ticks | awk -W interactive '
  /^@/ {
    now = substr($0, 2)
    if (now !~ /^[0-9]+[.][0-9]+$/) {
      sub(/[.].*/, "", now)
      tick = (now == second) ? tick + 1 : 0
      second = now
      now = now "." (tick < 5 ? tick * 2 : 9)
    }
    next
  }
  NF >= 9 {
    file = $NF ".tim"
    if (!(file in size)) {
      size[file] = 0
      while ((getline line < file) > 0) { split(line, word, " "); size[file] = word[2] }
      close(file)
    }
    if (size[file] != $5) { size[file] = $5; print now, $5 >> file; close(file) }
  }
' 9>&-
