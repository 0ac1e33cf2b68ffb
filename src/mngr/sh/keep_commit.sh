# Puts the commits and uncommitted work of a repository into the host's store as the reference REF and prints where.
# uses: store
# shellcheck disable=SC2154 # `repository` is set by mngr_store
umask 077
[ -d "$WORK_DIR/.git" ] || exit 0
mngr_enter
( mngr_view
commit=$(mngr_commit_view)
[ -n "$commit" ] || exit 0
mngr_store "$REF"
echo "$repository" )
