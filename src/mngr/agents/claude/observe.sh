# Prints the last event of LOG whose kind is one of KINDS, the file of its session, and the screen of pane TARGET.
# HOME_DIR is Claude Code's home.
# uses: tmux
[ "$(mngr_tmux display-message -p -t "$TARGET" '#{pane_dead}' 2>/dev/null)" = 0 ] || exit "$EXIT_GONE"
last=$(tail -c 65536 "$LOG" 2>/dev/null | grep -E '"kind":"('"$KINDS"')"' | tail -n 1)
session=; { read -r session <"$HOME_DIR/session"; } 2>/dev/null
printf '%s\n' "$last" "$session"
mngr_tmux capture-pane -p -e -t "$TARGET"
