# Prints what tmux says of pane TARGET, and the settings of its terminal if its program lives.
# uses: tmux
format='#{pane_pid} #{pane_dead} #{pane_in_mode} #{pane_tty} #{version} [#{bracket_paste_flag}] #{pane_title}'
out=$(mngr_tmux display-message -p -t "$TARGET" "$format" 2>/dev/null)
case $out in [1-9]*) ;; *) exit "$EXIT_GONE" ;; esac
printf '%s\n' "$out"
# shellcheck disable=SC2086 # its words
set -- $out
[ "$2" = 0 ] && stty -a <"$4" 2>/dev/null
exit 0
