# Waits until OpenCode's plugin and its screen are there, or another screen that does not change for STUCK looks; gives up
# after TRIES. Then prints what it asks, as it stands in its home HOME_DIR. "$@" are how titles of its own screen begin.
# uses: tmux
is_own() {
  for title; do
    case $seen in "0 $title"*) return ;; esac
  done
  return 1
}
n=0 same=0 before=
while :; do
  seen=$(mngr_tmux display-message -p -t "$TARGET" '#{pane_dead} #{pane_title}' 2>/dev/null </dev/null)
  screen=
  if is_own "$@"; then [ ! -e "$HOME_DIR/ready" ] || break; else
    case $seen in
      '0 '*) screen=$(mngr_tmux capture-pane -p -t "$TARGET" 2>/dev/null </dev/null) ;;
      *) exit "$EXIT_GONE" ;;
    esac
  fi
  [ -n "$screen" ] && [ "$screen" = "$before" ] || same=0
  [ "$n" -lt "$TRIES" ] && [ "$same" -lt "$STUCK" ] || exit "$EXIT_NOT_UP"
  before=$screen same=$((same + 1)) n=$((n + 1)); sleep 0.2
done
for file in "$HOME_DIR"/asked/*.json; do
  [ ! -e "$file" ] || { cat "$file"; echo; }
done
exit 0
