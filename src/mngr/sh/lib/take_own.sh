# A snapshot of an agent's own work dir; lib/take_copy.sh or lib/take_worktree.sh defines `mngr_take_commit`.
# uses: commit_view
# A folder that merely lies within another repository has no git of its own.
mngr_has_git() { [ -e .git ]; }
mngr_take() {
  mngr_enter
  case $HOST_DIR/ in
    "$(pwd -P)"/*) its_git --work-tree=. check-ignore -q --no-index "$HOST_DIR" || exit "$EXIT_HOLDS_HOST_DIR" ;;
  esac
  mngr_take_commit
}
