# Runs after a message was pasted: waits until the prompt shows it, presses ENTER, and again while it still does, at most
# PRESSES times, until the log or the queue names the message. MOST is for how many looks, ENOUGH for how many where the
# prompt has taken it; before look AGAIN Enter is pressed once. Prints `dead` and whether its process is, then `typed`, `said`
# and `queued` with a line of the session file, each where it is so.
# shellcheck disable=SC2154 # set by prompt.sh and before_paste.sh
n=0 pressed=0
until mngr_typed || [ "$n" -ge "$SHOW" ]; do n=$((n + 1)); sleep "$TICK"; done
n=0
until mngr_taken; do
  if [ $((n % 10)) -eq 0 ]; then
    mngr_look
    [ "$n" -lt "$ENOUGH" ] || { [ "$is" = typed ] && [ "$n" -lt "$MOST" ]; } || break
    [ "$(mngr_dead)" = 0 ] || break
    [ "$pressed" -eq 0 ] || [ "$n" -ge "$AGAIN" ] || is=waits
    if [ "$pressed" -lt "$PRESSES" ] && [ -z "$asked" ] && [ "$is" = typed ]; then
      [ "$pressed" -gt 0 ] || printf '%s\n' "$text" >"$SHOWN"
      mngr_press "$ENTER"; pressed=$((pressed + 1))
    fi
  fi
  n=$((n + 1)); sleep "$TICK"
done
n=0; mngr_taken && mngr_clear 6
echo "dead $(mngr_dead)"
mngr_typed && echo typed
[ -z "$named" ] || echo said
mngr_queued | sed 's/^/queued /'
