# A view that writes: `mngr_lock_index` comes before `mngr_view`.
# uses: view

# Locks the agent's index as git locks it.
# shellcheck disable=SC2154 # `dir` is set by mngr_enter
mngr_lock_index() {
  ( set -C; : >"$dir/index.lock" ) 2>/dev/null || exit "$EXIT_INDEX_LOCKED"
  locked=$dir/index.lock
  trap 'rm -f "$locked"' EXIT
  trap 'exit 130' HUP INT TERM
}
# Makes the view's index the agent's, in one step.
# shellcheck disable=SC2154 # `view` is set by mngr_view
mngr_keep_index() {
  cat "$view/index" >"$locked"
  mv -f "$locked" "$dir/index"
  locked=
}
