# Runs before a message is pasted. Notes where the log EVENTS and the session file end, and ends the shell with the word
# CHANGED unless the prompt is empty and nothing is asked; with SAYS_IT_ASKS a question in the log does not count. Python
# defines `mngr_names_it`: whether the line $1 of the log names the message.
# shellcheck disable=SC2154 # `is` is set by mngr_look
mngr_asks() { tail -c 4096 "$EVENTS" | grep -E '"kind":"('"$KINDS"')"' | tail -n 1 | grep -q needs_input; }
mngr_queued() { tail -c +$((read + 1)) "$SESSION_FILE" 2>/dev/null | grep '"operation":"enqueue"'; }
# Reads what is new in the log.
mngr_hear() {
  while IFS= read -r one <&7; do
    ! mngr_names_it "$part$one" || named=$part$one
    case $part$one in
      *'"kind":"needs_input"'*) asked=yes ;;
      *'"kind":"resumed"'*|*'"kind":"prompt_submitted"'*|*'"kind":"turn_ended"'*) asked= ;;
    esac
    part=
  done
  part=$part$one
}
mngr_taken() { mngr_hear; [ -n "$named" ] || { [ $((n % 4)) -eq 0 ] && mngr_queued >/dev/null; }; }
# shellcheck disable=SC2034 # `asked` is for after_paste.sh
named= part= asked= read=$(wc -c 2>/dev/null <"$SESSION_FILE" || echo 0)
exec 7<"$EVENTS"; cat <&7 >/dev/null
mngr_look
[ "$is" = empty ] && { [ -n "$SAYS_IT_ASKS" ] || ! mngr_asks; } || { echo "$CHANGED" >&2; mngr_drop; exit 1; }
