# Hands over what stdin holds to a headless Claude Code at TARGET, through the pipe `in` of its home HOME_DIR, and waits for
# evidence, at most TRIES times: LOG names the checksum SUM, or its session file a text that it queued. Prints how often
# the first and the second were there, and whether its pane is dead.
# uses: paste
mngr_said() { tail -c +$((from + 1)) "$LOG" | grep -c '"cksum":"'"$SUM"'"'; }
mngr_taken() { tail -c +$((read + 1)) "$file" 2>/dev/null | grep -c '"operation":"enqueue"'; }
mngr_take_pane "$PATIENCE"
file=; { read -r file <"$HOME_DIR/session"; } 2>/dev/null
turn=idle; { read -r turn _ <"$HOME_DIR/turn"; } 2>/dev/null
from=$(wc -c <"$LOG") read=$(wc -c 2>/dev/null <"$file" || echo 0)
cat >"$HOME_DIR/in" 9>&-
n=0
until [ "$(mngr_said)" -gt 0 ] || [ "$(mngr_dead)" != 0 ] || [ "$n" -ge "$TRIES" ]; do
  [ "$turn" = idle ] || [ "$(mngr_taken)" -eq 0 ] || break
  n=$((n + 1)); sleep 0.05
done
echo "$(mngr_said) $(mngr_taken) $(mngr_dead)"
mngr_drop
