# Waits until the last TAIL bytes of the session file SESSION hold TEXT, at most TRIES times and while pane TARGET lives;
# false when they do not.
# uses: tmux
n=0
until tail -c "$TAIL" "$SESSION" 2>/dev/null | grep -q "$TEXT"; do
  [ "$n" -lt "$TRIES" ] || exit 1
  [ "$(mngr_tmux display-message -p -t "$TARGET" '#{pane_dead}' 2>/dev/null </dev/null)" = 0 ] || exit 1
  n=$((n + 1)); sleep 0.05
done
