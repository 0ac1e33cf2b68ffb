# Functions that look at Claude Code's prompt in pane TARGET and press keys; they use those of lib/paste.sh. A look starts one
# process: there are many. SIGN stands before the prompt. CURSOR and DIM are the bytes by which a look marks the cursor and
# dim text. Python defines `mngr_press`, which presses the key $1 while the prompt shows.
LC_ALL=C; export LC_ALL
# Says whether the prompt `is` there, and empty, typed into, or back with a text that was taken, and sets `text` to it.
mngr_look() {
  is=none last= line= text= IFS='
'; set -f
  for one in $(mngr_tmux capture-pane -p -e -t "$TARGET" 2>/dev/null </dev/null); do
    case $one in *"$SIGN"*) last=$one ;; esac
  done
  unset IFS; set +f
  [ -n "$last" ] || return 0
  rest=${last##*"$SIGN"} text=$SIGN
  while :; do
    case $rest in *"$ESCAPE"*) ;; *) line=$line$rest text=$text$rest; break ;; esac
    line=$line${rest%%"$ESCAPE"*} text=$text${rest%%"$ESCAPE"*} rest=${rest#*"$ESCAPE"}
    case ${rest%%m*} in 7) line=$line$CURSOR ;; 2|02|';2'|'0;2') line=$line$DIM ;; esac
    rest=${rest#*m}
  done
  while :; do case $text in *' ') text=${text% } ;; *) break ;; esac; done
  case $line in
    "$CURSOR"|"$CURSOR "*|"$CURSOR"?"$DIM"*) is=empty ;;
    "$CURSOR"*) is=back ;;
    *) is=typed ;;
  esac
}
mngr_typed() { mngr_look; [ "$is" = typed ]; }
# Now and then a text that was taken comes back into the prompt, with the cursor before it: Enter would send it once more.
# This removes it by the keys KILL, from look $1 on, and nothing that was typed: SHOWN is the file with the text.
mngr_clear() {
  shown= n=0
  # shellcheck disable=SC2153 # SHOWN is a parameter
  { read -r shown <"$SHOWN"; } 2>/dev/null
  while mngr_look; [ "$is" != empty ] && [ "$text" = "${shown:-none}" ] && [ "$n" -lt 60 ]; do
    n=$((n + 1)); [ "$n" -lt "$1" ] || mngr_press "$KILL"
    sleep "$TICK"
  done
}
