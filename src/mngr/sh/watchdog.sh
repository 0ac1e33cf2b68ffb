# The first process of a host that is made for agents. It ends, and the host with it, when its time is over.
# $1 host dir, $2 the directory of the tmux socket, $3 seconds between looks, $4 to live, $5 to idle, $6 of lease; empty:
# without end. Time is counted, not read: a clock that is set, or a host that was paused, ends nothing.
exec </dev/null >/dev/null 2>&1
umask 077
dir=$1 tmux=$2 tick=$3 life=$4 idle=$5 lease=$6
lives() {
  # shellcheck disable=SC2034 # the boot is between what is used
  [ ! -e "$1/exit.json" ] && [ -f "$1/pid" ] && read -r pid boot before <"$1/pid" || return 1
  [ -d /proc/self ] || { kill -0 "$pid"; return; }
  read -r now <"/proc/$pid/stat" || return 1
  now=${now##*) } before=${before##*) }
  case $now in Z*|X*) return 1 ;; esac
  # shellcheck disable=SC2086 # field 22 of each line is the time the process began
  { set -- $now; now=${20}; set -- $before; }
  [ "$now" = "${20}" ]
}
waits() {
  kinds='started|prompt_submitted|resumed|screen_unknown|turn_ended|needs_input'
  [ -f "$1/events.jsonl" ] && tail -c 65536 "$1/events.jsonl" | grep -Eo '"kind":"('"$kinds"')"' | tail -n 1 |
    grep -Eq 'turn_ended|needs_input'
}
works() {
  [ -d "$dir/agents" ] || return 0
  for agent in "$dir"/agents/agent-*; do
    [ -d "$agent" ] || continue
    [ -e "$agent/pid" ] || [ -e "$agent/exit.json" ] || return 0
    lives "$agent" && ! waits "$agent" && return 0
  done
  [ -n "$(cd "$tmux" && tmux -N -S socket list-clients)" ]
}
end() {
  for agent in "$dir"/agents/agent-*; do
    [ -f "$agent/events.jsonl" ] && lives "$agent" &&
      printf '{"at":%s,"kind":"stopped"}\n' "$(date +%s)" >>"$agent/events.jsonl"
  done
  exit "$1"
}
trap 'end 0' TERM INT
[ -z "$lease" ] || { mkdir -p "$dir"; echo 0 >"$dir/lease"; }
lived=0 idled=0 alone=0 seen=
while :; do
  # Waiting also reaps the processes whose parents are gone, on a host whose first process this is.
  sleep "$tick" & wait $!
  lived=$((lived + tick)) idled=$((idled + tick)) alone=$((alone + tick))
  [ -z "$life" ] || [ "$lived" -lt "$life" ] || end "$EXIT_TIME_OVER"
  [ -z "$idle" ] || ! works || idled=0
  [ -z "$idle" ] || [ "$idled" -lt "$idle" ] || end "$EXIT_IDLE"
  [ -z "$lease" ] || { [ ! -f "$dir/lease" ] || read -r now <"$dir/lease"
    [ "$now" = "$seen" ] || { seen=$now alone=0; }; }
  [ -z "$lease" ] || [ "$alone" -lt "$lease" ] || end "$EXIT_LEASE_OVER"
done
