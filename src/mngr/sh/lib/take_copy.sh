# A snapshot of a work dir whose repository goes with the agent: the host's store gets its commit.
# uses: take_own store
# shellcheck disable=SC2034,SC2154 # `repository` is for the program, `form` is set by mngr_enter
mngr_take_commit() {
  repository=$ALL/store-$form.git
  commit=$( mngr_view
    commit=$(mngr_commit_view)
    mngr_store "$REFS$NAME"
    echo "$commit" )
}
