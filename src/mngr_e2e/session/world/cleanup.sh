# Ends what still runs in the world of a session, whose directory is ROOT and whose mark in environments is MARK, and removes
# the directory. A shell that sourced the world's env.sh would give this program the mark too, hence the empty environment.
[ -z "${MNGR_E2E_SESSION:-}" ] || exec env -i PATH="$PATH" sh "$0"
marked() {
  # shellcheck disable=SC2013 # paths of /proc have no blanks
  for file in $(grep -l -s -a -e "$MARK" -e "=$ROOT/" /proc/[0-9]*/environ); do
    pid=${file#/proc/}; echo "${pid%/environ}"
  done
}
for signal in TERM KILL; do
  for pid in $(marked); do kill -$signal "$pid" 2>/dev/null; done
  n=0
  while [ -n "$(marked)" ] && [ "$n" -lt 20 ]; do n=$((n + 1)); sleep 0.1; done
done
rm -rf "$ROOT"
