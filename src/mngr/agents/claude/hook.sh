# Run by Claude Code's hooks, in its own environment, with details as JSON on stdin: adds an event to the agent's log. Must
# print nothing: what a hook prints is read by the model. The file `turn` remembers busy, asked or idle, and how long the
# session file was when the turn began. $1 is what happened.
umask 077
in=$(cat)
own=$MNGR_AGENT_STATE_DIR at=$(date +%s.%N)
# A date without parts of seconds is rounded up: what happens is never older than the message that caused it.
case $at in *[!0-9.]*) at=$(date +%s).999 ;; esac
turn=idle from=0
[ ! -e "$own/claude/turn" ] || read -r turn from <"$own/claude/turn"
field() {
  value=${in#*\""$1"\":\"}
  [ "$value" != "$in" ] || value=
  value=${value%%\"*}
}
plain() { field "$1"; case $value in *[!A-Za-z0-9_.-]*) value=unreadable ;; esac; }
now() { printf '%s\n' "$1 $from" >"$own/claude/turn"; }
say() {
  printf '{"at":%s,"kind":"%s","data":{%s}}\n' "$at" "$1" "$2" >>"$own/events.jsonl"
  printf '%s\n' "$$ $at" >"$MNGR_HOST_DIR/bell.$$" && mv -f "$MNGR_HOST_DIR/bell.$$" "$MNGR_HOST_DIR/bell"
}
size() { field transcript_path; from=$(wc -c 2>/dev/null <"$value") || from=0; from=$((from)); }
case $1 in
  session)
    # A conversation that was copied here is still named by the place it would have been begun in.
    field transcript_path
    [ -e "$value" ] || for file in "$own"/claude/projects/*/"${value##*/}"; do [ ! -e "$file" ] || value=$file; done
    printf '%s\n' "$value" >"$own/claude/session.$$" && mv -f "$own/claude/session.$$" "$own/claude/session"
    plain source
    now idle
    say turn_ended "\"reason\":\"session_$value\"" ;;
  prompt)
    size
    now busy
    text=${in#*\"prompt\":\"}
    # shellcheck disable=SC2046 # sum and size
    set -- $(printf '%s\n' "$text" | sed 's/^\([^"\\]*\(\\.[^"\\]*\)*\)".*/\1/' | cksum)
    say prompt_submitted "\"cksum\":\"$1 $2\"" ;;
  permission)
    plain tool_name
    now asked
    reason=permission
    [ "$value" != AskUserQuestion ] || reason=input
    say needs_input "\"reason\":\"$reason\",\"tool\":\"$value\"" ;;
  tool)
    [ "$turn" = asked ] || exit 0
    now busy
    say resumed ;;
  notice)
    plain notification_type
    case $value in
      permission_prompt) now asked; say needs_input '"reason":"permission"' ;;
      elicitation_dialog) now asked; say needs_input '"reason":"input"' ;;
      idle_prompt) [ "$turn" = busy ] || exit 0; now idle; say turn_ended '"reason":"idle"' ;;
    esac ;;
  stop)
    # Its last answer reaches the session file a moment later: who hears of the end shall find it there.
    field transcript_path
    n=0
    until tail -c +$((from + 1)) "$value" 2>/dev/null | grep -q '"stop_reason":"end_turn"' || [ "$n" -ge 10 ]; do
      n=$((n + 1)); sleep 0.05
    done
    now idle
    say turn_ended ;;
  failure)
    plain error
    now idle
    error=$value
    # The text that it shows for the error, as it is escaped in the JSON; one that is too long is cut to plain words.
    text=${in#*\"last_assistant_message\":\"}
    if [ "$text" = "$in" ]; then text=; else
      text=$(printf '%s\n' "$text" | sed 's/^\([^"\\]*\(\\.[^"\\]*\)*\)".*/\1/')
      [ "${#text}" -le 500 ] || text=$(printf '%s\n' "$text" | tr -cd 'A-Za-z0-9 .,:;/()_-' | cut -c 1-500)
      text=",\"message\":\"$text\""
    fi
    say api_error "\"error\":\"$error\"$text"
    say turn_ended '"reason":"api_error"' ;;
  status)
    # No hook tells of an interruption; the session file does, and this is run whenever it grew.
    [ "$turn" != idle ] || exit 0
    field transcript_path
    tail -c +$((from + 1)) "$value" 2>/dev/null | grep -E '"type":"(user|assistant)"' | tail -n 1 |
      grep -q '\[Request interrupted by user' || exit 0
    now idle
    say turn_ended '"reason":"interrupted"' ;;
  end)
    plain reason
    say session_ended "\"reason\":\"$value\"" ;;
esac
exit 0
