# Puts HEAD back to the commit `$old` and the branch `$branch`. A branch that has gone on, or is checked out in another
# work tree, is left alone: HEAD then names the commit, and this prints a word.
# shellcheck disable=SC2154 # `branch` and `old` are set before
now=$(its_git symbolic-ref -q HEAD || :)
tip=; [ -z "$branch" ] || tip=$(its_git rev-parse -q --verify "$branch" || :)
if [ -n "$branch" ] && [ "$now" = "$branch" ]; then
  if [ -n "$old" ]; then its_git update-ref -m 'mngr restore' HEAD "$old"; else its_git update-ref -d "$branch"; fi
elif [ -n "$branch" ] && [ "$tip" = "$old" ] &&
  ! its_git worktree list --porcelain | grep -qxF "branch $branch"; then
  its_git symbolic-ref -m 'mngr restore' HEAD "$branch"
elif [ -n "$old" ]; then
  its_git update-ref --no-deref -m 'mngr restore' HEAD "$old"
  [ -z "$branch" ] || echo detached
fi
