# Run by Codex's hooks, in its app server's environment, with details as JSON on stdin: adds an event to the agent's log.
# Must print nothing: what a hook prints is read by the model. The file `turn` remembers busy, asked or idle. $1 is what
# happened.
umask 077
in=$(cat)
own=$MNGR_AGENT_STATE_DIR turn=idle
clock() {
  at=$(date +%s.%N)
  # A date without parts of seconds is rounded up: what happens is never older than the message that caused it.
  case $at in *[!0-9.]*) at=$(date +%s).999 ;; esac
}
clock
[ ! -e "$own/codex/turn" ] || read -r turn <"$own/codex/turn"
field() {
  value=${in#*\""$1"\":\"}
  [ "$value" != "$in" ] || value=
  value=${value%%\"*}
}
plain() { field "$1"; case $value in *[!A-Za-z0-9_.-]*) value=unreadable ;; esac; }
now() { printf '%s\n' "$1" >"$own/codex/turn"; }
say() {
  printf '{"at":%s,"kind":"%s","data":{%s}}\n' "$at" "$1" "$2" >>"$own/events.jsonl"
  printf '%s\n' "$$ $at" >"$MNGR_HOST_DIR/bell.$$" && mv -f "$MNGR_HOST_DIR/bell.$$" "$MNGR_HOST_DIR/bell"
}
# Looks at the end of the session file: what a hook tells of gets there a moment later.
wait_for() {
  field transcript_path
  n=0
  until tail -n 3 "$value" 2>/dev/null | grep -q "$2"; do
    n=$((n + 1))
    [ "$n" -lt "$1" ] || return 1
    sleep 0.05
  done
}
case $1 in
  session)
    field transcript_path
    printf '%s\n' "${value#"$own/codex/"}" >"$own/codex/session.$$" &&
      mv -f "$own/codex/session.$$" "$own/codex/session" ;;
  prompt)
    now busy
    plain turn_id
    say prompt_submitted "\"turn\":\"$value\"" ;;
  permission)
    plain tool_name
    now asked
    say needs_input "\"reason\":\"permission\",\"tool\":\"$value\"" ;;
  tool)
    [ "$turn" = asked ] || exit 0
    now busy
    say resumed ;;
  model)
    field status
    [ "$value" = failed ] || exit 0
    error=$(printf '%s\n' "${in#*\"error\":\"}" | sed 's/^\([^"\\]*\(\\.[^"\\]*\)*\)".*/\1/' |
      tr -cd 'A-Za-z0-9 .,:;/()_-' | cut -c 1-300)
    say api_error "\"error\":\"$error\""
    # It may try once more. When it does not, nothing but the session file says so, and not before this has ended.
    plain turn_id
    (wait_for 40 "\"type\":\"task_complete\".*\"turn_id\":\"$value\"" || exit 0
    clock
    now idle
    say turn_ended '"reason":"api_error"') >/dev/null 2>&1 </dev/null & ;;
  stop)
    wait_for 10 '"type":"token_count"'
    now idle
    say turn_ended ;;
  interrupt)
    now idle
    say turn_ended '"reason":"interrupted"' ;;
  end)
    say session_ended ;;
esac
exit 0
