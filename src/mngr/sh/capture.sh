# Prints what pane TARGET shows; "$@" are more words for tmux's capture-pane. Once its session is gone, the screen that was
# kept in the file SCREEN.
# uses: tmux
mngr_tmux capture-pane -p "$@" -t "$TARGET" 2>/dev/null && exit 0
[ -f "$SCREEN" ] && tail -c 67108864 "$SCREEN" && exit "$EXIT_SAVED_SCREEN"
exit "$EXIT_GONE"
