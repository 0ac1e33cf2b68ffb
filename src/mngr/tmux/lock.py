"""Locks between the shells that mngr runs on a host."""

from mngr.store.script import quote


def lock_shell(path: str) -> str:
    """The sh functions `mngr_take SECONDS` (false when someone else holds it that long) and `mngr_drop`.

    `flock` where the host has it: the kernel lets go of it when its holder dies. Elsewhere a directory with
    the holder's pid, taken over when that process is gone. What the holder starts must close descriptor 9.
    """
    return f"""\
mngr_lock={quote(path)}
mngr_flock=; command -v flock >/dev/null 2>&1 && mngr_flock=yes
mngr_take() {{
  [ -z "$mngr_flock" ] || exec 9>"$mngr_lock" || return 1
  mngr_left=$(($1 * 50))
  until mngr_try; do
    [ "$mngr_left" -gt 0 ] || return 1
    mngr_left=$((mngr_left - 1)); sleep 0.02
  done
}}
mngr_try() {{
  if [ -n "$mngr_flock" ]; then flock -n 9; return; fi
  if ! mkdir "$mngr_lock.d" 2>/dev/null; then
    mngr_holder=; {{ read -r mngr_holder <"$mngr_lock.d/pid"; }} 2>/dev/null
    [ -n "$mngr_holder" ] && mngr_gone "$mngr_holder" || return 1
    mv "$mngr_lock.d" "$mngr_lock.dead.$$" 2>/dev/null && rm -rf "$mngr_lock.dead.$$"
    mkdir "$mngr_lock.d" 2>/dev/null || return 1
  fi
  echo "$$" >"$mngr_lock.d/pid"
}}
mngr_gone() {{
  kill -0 "$1" 2>/dev/null || return 0
  mngr_stat=; {{ read -r mngr_stat <"/proc/$1/stat"; }} 2>/dev/null
  case ${{mngr_stat##*) }} in Z*) return 0 ;; *) return 1 ;; esac
}}
mngr_drop() {{
  if [ -n "$mngr_flock" ]; then flock -u 9; exec 9>&-; else rm -rf "$mngr_lock.d"; fi
}}
"""
