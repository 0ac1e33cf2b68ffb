# Prints what a work dir has changed since BASE (empty: since its HEAD), at most LIMIT bytes: commits and uncommitted work
# together. FORM is an option of git diff, PATHS are paths as shell words. No program that the repository names is run.
# When enough has been read, git ends by SIGPIPE (141), which is no failure.
# uses: commit_view
# shellcheck disable=SC2154 # mngr_enter sets `head`, mngr_view `view`
mngr_enter
mngr_view
commit=$(mngr_commit_view)
if [ -z "$BASE" ]; then BASE=${head:-$(git hash-object -t tree /dev/null)}; fi
eval "set -- $PATHS"
{
  git diff --no-ext-diff --no-textconv --no-color --submodule=short ${FORM:+"$FORM"} "$BASE" "$commit" -- "$@" 2>&3 ||
    [ "$?" = 141 ] || : >"$view/failed"
} 3>&2 | head -c "$LIMIT"
[ ! -e "$view/failed" ]
