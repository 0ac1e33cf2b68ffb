# Locks between the shells that mngr runs on a host: `flock` where the host has it, since the kernel releases it when its
# holder dies. On other hosts a directory with one file, called `free` or by its holder's pid and start time: the shell that
# renames it has the lock, and of several that rename the same one only one succeeds, also when they take it from a holder
# that is gone. What the holder starts must close descriptor 9.

# Names the lock that the other functions use: the file $1.
mngr_lock_at() {
  mngr_lock=$1
  mngr_flock=; command -v flock >/dev/null 2>&1 && mngr_flock=yes
}
# Takes the lock within $1 seconds; false when another process holds it that long.
mngr_take() {
  [ -z "$mngr_flock" ] || exec 9>"$mngr_lock" || return 1
  mngr_left=$(($1 * 50))
  until mngr_try; do
    [ "$mngr_left" -gt 0 ] || return 1
    mngr_left=$((mngr_left - 1)); sleep 0.02
  done
}
mngr_drop() {
  if [ -n "$mngr_flock" ]; then flock -u 9; exec 9>&-; else mv "$mngr_lock.d/$mngr_me" "$mngr_lock.d/free"; fi
}
mngr_try() {
  if [ -n "$mngr_flock" ]; then flock -n 9; return; fi
  mngr_process $$; mngr_me=$$.$mngr_start
  [ -d "$mngr_lock.d" ] || mngr_make
  mv "$mngr_lock.d/free" "$mngr_lock.d/$mngr_me" 2>/dev/null && return
  for mngr_held in "$mngr_lock.d"/*; do
    if [ "${mngr_held##*/}" != free ] && mngr_gone "${mngr_held##*/}"; then
      mv "$mngr_held" "$mngr_lock.d/$mngr_me" 2>/dev/null && return
    fi
  done
  return 1
}
# Made whole and then moved to its place; where there is one already, `mv` refuses, because it is not empty.
mngr_make() {
  mngr_new=$mngr_lock.new.$$
  mkdir -p "$mngr_new/${mngr_lock##*/}.d" && : >"$mngr_new/${mngr_lock##*/}.d/free" &&
    mv "$mngr_new/${mngr_lock##*/}.d" "${mngr_lock%/*}/" 2>/dev/null
  rm -rf "$mngr_new"
}
# Whether the process with the mark $1, its pid and start time, is gone.
mngr_gone() {
  kill -0 "${1%%.*}" 2>/dev/null || return 0
  mngr_process "${1%%.*}"
  case $mngr_state in Z|X) return 0 ;; *) [ "${1#*.}" != "$mngr_start" ] ;; esac
}
mngr_process() {
  mngr_stat=; { read -r mngr_stat <"/proc/$1/stat"; } 2>/dev/null
  # shellcheck disable=SC2086 # its fields
  set -- ${mngr_stat##*) }
  mngr_state=${1-} mngr_start=${20-}
}
