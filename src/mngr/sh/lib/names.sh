# The names of agents: file NAMES/NAME holds the id of the agent that has the name, and is linked, not written, so that it
# holds it from its first moment on. Names are removed only under their lock, so that no process removes one that another
# has just taken over. AGENTS is the directory of the agents.
# uses: lock

# Sets `owner` to the id in the file $1; reading from a FIFO in its place would never end.
mngr_owner() {
  owner=; [ ! -f "$1" ] || { read -r owner <"$1"; } 2>/dev/null
}
# Whether the file $1 is a name of an agent that is there.
mngr_is_owned() {
  mngr_owner "$1"
  [ -n "$owner" ] && [ -d "$AGENTS/$owner" ]
}
# Takes the name $1 for the agent $2, or ends the shell. A name whose agent is gone is free.
mngr_take_name() {
  name=$NAMES/$1 own=$AGENTS/$2/id
  [ -s "$own" ] || printf '%s\n' "$2" >"$own" || exit 1
  ln "$own" "$name" 2>/dev/null && return
  ! mngr_is_owned "$name" || exit "$EXIT_TAKEN"
  mngr_lock_at "$NAMES.lock"
  mngr_take 20 || { printf '%s\n' "another mngr holds $NAMES.lock" >&2; exit 1; }
  # Not one that is linked only now: only the holder of the lock can have removed a file that was there.
  if [ -e "$name" ] || [ -L "$name" ]; then mngr_is_owned "$name" || rm -rf "$name"; fi
  ln "$own" "$name"; taken=$?
  mngr_drop
  [ "$taken" = 0 ] || { [ -e "$name" ] && exit "$EXIT_TAKEN"; exit 1; }
}
# Removes the names of pairs NAME ID that are these agents'. While another mngr holds the lock they stay, and `gc` removes
# them.
mngr_drop_names() {
  mngr_has_one_of "$@" || return 0
  mngr_lock_at "$NAMES.lock"
  mngr_take 20 || return 0
  while [ $# -gt 0 ]; do
    mngr_has_one_of "$1" "$2" && rm -f "$NAMES/$1"
    shift 2
  done
  mngr_drop
}
# Whether one of the pairs NAME ID is a name and its owner.
mngr_has_one_of() {
  while [ $# -gt 0 ]; do
    [ -e "$NAMES/$1" ] && { mngr_owner "$NAMES/$1"; [ "$owner" = "$2" ]; } && return
    shift 2
  done
  return 1
}
