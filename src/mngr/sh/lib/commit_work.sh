# uses: commit_tree

# Prints the id of a commit that holds the work tree WORK_DIR as it is: HEAD's own when it is clean. Index, HEAD and stash stay.
# Tracked changes, deletions, renames, modes, links and untracked files that are not ignored are in it.
mngr_commit_work() {
  cd -- "$WORK_DIR" || exit
  dir=$(git rev-parse --absolute-git-dir)
  index=$dir/mngr-index.$$
  trap 'rm -f "$index" "$index.lock"' EXIT
  trap 'exit 130' HUP INT TERM
  if [ -f "$dir/index" ]; then cp "$dir/index" "$index"; fi
  sparse=
  if [ "$(git config --bool core.sparseCheckout || :)" = true ]; then sparse=--sparse; fi
  # shellcheck disable=SC2086 # no word or one
  GIT_INDEX_FILE=$index git -c core.splitIndex=false add -A $sparse
  # shellcheck disable=SC2034 # for mngr_commit_tree
  tree=$(GIT_INDEX_FILE=$index git write-tree)
  rm -f "$index" "$index.lock"
  trap - EXIT HUP INT TERM
  mngr_commit_tree
}
