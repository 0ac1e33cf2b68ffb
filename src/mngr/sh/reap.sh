# The hook of our tmux server for a pane whose process has ended: writes `exit.json` and the event. $0 is in the directory
# of the socket, $1 the agent's id, $2 pid, $3 status, $4 signal. Another pane of the session may die too: only the
# agent's own counts.
host=${0%/tmux/*}
dir=$host/agents/${1:?}
[ -d "$dir" ] || exit 0
# shellcheck disable=SC2034 # only the first word counts
{ read -r own rest <"$dir/pid"; } 2>/dev/null
[ "${own-}" = "$2" ] || exit 0
at=$(date +%s)
code=${3:-null} signal=null
[ -n "$4" ] && code=null && signal="\"SIG$(kill -l "$4" 2>/dev/null || echo "$4")\""
printf '{"pid":%s,"exit_code":%s,"signal":%s,"at":%s}\n' "$2" "$code" "$signal" "$at" >"$dir/exit.json.new.$$" &&
  mv -f "$dir/exit.json.new.$$" "$dir/exit.json"
printf '{"at":%s,"kind":"exited","data":{"exit_code":%s,"signal":%s}}\n' "$at" "$code" "$signal" >>"$dir/events.jsonl"
printf '%s\n' "$$ $at" >"$host/bell.$$" && mv -f "$host/bell.$$" "$host/bell"
