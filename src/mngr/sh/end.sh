# Kills the shell with the mark $1, which only it has in its environment, and all that it started. Not every engine makes
# that shell the leader of a process group, so its descendants are found by their parents too.
below() {
  for stat in /proc/[0-9]*/stat; do
    read -r line <"$stat" || continue
    rest=${line##*) }; rest=${rest#* }
    [ "${rest%% *}" != "$1" ] || { echo "${line%% *}"; (below "${line%% *}"); }
  done
}
exec 2>/dev/null
# shellcheck disable=SC2013,SC2046 # paths of /proc have no blanks; one word per process
for file in $(grep -slF "$1" /proc/[0-9]*/environ); do
  pid=${file#/proc/}; pid=${pid%/environ}
  kill -9 "-$pid" "$pid" $(below "$pid")
done
exit 0
