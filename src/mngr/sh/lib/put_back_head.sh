# Puts HEAD back to the commit HEAD and the branch BRANCH, given with these names. A branch that has gone on, or is checked out
# in another work tree, is left alone: HEAD then names the commit, and this prints a word.
mngr_put_back_head() {
  now=$(its_git symbolic-ref -q HEAD || :)
  tip=; [ -z "$BRANCH" ] || tip=$(its_git rev-parse -q --verify "$BRANCH" || :)
  if [ -n "$BRANCH" ] && [ "$now" = "$BRANCH" ]; then
    if [ -n "$HEAD" ]; then its_git update-ref -m 'mngr restore' HEAD "$HEAD"; else its_git update-ref -d "$BRANCH"; fi
  elif [ -n "$BRANCH" ] && [ "$tip" = "$HEAD" ] &&
    ! its_git worktree list --porcelain | grep -qxF "branch $BRANCH"; then
    its_git symbolic-ref -m 'mngr restore' HEAD "$BRANCH"
  elif [ -n "$HEAD" ]; then
    its_git update-ref --no-deref -m 'mngr restore' HEAD "$HEAD"
    [ -z "$BRANCH" ] || echo detached
  fi
}
