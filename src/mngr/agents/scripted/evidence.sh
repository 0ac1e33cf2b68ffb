# How the scripted agent takes a message: LOG names the message by its DIGEST. Runs around lib/paste.sh.

mngr_begin_evidence() { from=$(wc -c 2>/dev/null <"$LOG" || echo 0); }
mngr_said() { tail -c +$((from + 1)) "$LOG" 2>/dev/null | grep "$DIGEST"; }
# Waits until the log names the message, at most TRIES times, and presses Enter once more halfway. Prints what it found, and
# the last event whose kind is one of KINDS.
mngr_evidence() {
  enter=$(printf '\r')
  n=0
  until mngr_said >/dev/null || [ "$n" -ge "$TRIES" ] || [ "$(mngr_dead)" != 0 ]; do
    n=$((n + 1))
    [ "$n" -ne $((TRIES / 2)) ] ||
      mngr_tmux set-buffer -b mngr-again "$enter" \; paste-buffer -d -r -b mngr-again -t "$TARGET" 9>&-
    sleep 0.05
  done
  echo "dead $(mngr_dead)"
  mngr_said | sed 's/^/said /'
  grep -E '"kind":"('"$KINDS"')"' "$LOG" | tail -n 1 | sed 's/^/last /'
}
