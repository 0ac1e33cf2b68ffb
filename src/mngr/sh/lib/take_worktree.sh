# A snapshot of a worktree: its commit lives in the repository of the worktree.
# uses: take_own
# shellcheck disable=SC2154 # `common` is set by mngr_enter
mngr_take_commit() {
  repository=$common
  commit=$( mngr_view; mngr_commit_view )
  [ -z "$commit" ] || git --git-dir="$repository" update-ref "$REFS$NAME" "$commit"
}
