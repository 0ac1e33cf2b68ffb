# Moves a work dir's branch, index and files forward to COMMIT, which the reference INCOMING keeps until then. Files and index
# move in a view, where HEAD is no branch; then HEAD follows if it has not moved. Prints HEAD before, the branch, and HEAD now.
# uses: view_index
# shellcheck disable=SC2154 # `head` and `branch` are set by mngr_enter
mngr_enter
trap 'its_git update-ref -d "$INCOMING"' EXIT
( mngr_lock_index
mngr_view
git -c merge.autoStash=false merge -q --ff-only --no-stat --no-verify-signatures "$COMMIT" >&2
mngr_keep_index )
its_git update-ref -m 'mngr push' HEAD "$COMMIT" "$head"
printf '%s\n' "$head" "$branch" "$COMMIT"
