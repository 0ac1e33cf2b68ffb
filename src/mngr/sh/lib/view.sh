# The view of a work tree: a git directory of ours below SCRATCH, removed when the shell ends. INCLUDE is the part of its
# configuration that includes the user's own; empty: none counts.
# uses: repository

# Not left to the environment: both are removed.
view= locked=
# From here on git looks through the view: after `mngr_enter`, in a subshell of its own.
# shellcheck disable=SC2154 # mngr_enter sets them
mngr_view() {
  trap 'rm -rf ${view:+"$view"} ${locked:+"$locked"}' EXIT
  trap 'exit 130' HUP INT TERM
  mkdir -p "$SCRATCH"
  view=$(mktemp -d "$SCRATCH/view.XXXXXX")
  mkdir "$view/refs" "$view/info"
  ln -s "$common/objects" "$view/objects"
  for f in info/exclude info/attributes shallow; do
    if [ -f "$common/$f" ]; then cp "$common/$f" "$view/$f"; fi
  done
  if [ -f "$dir/info/sparse-checkout" ]; then cp "$dir/info/sparse-checkout" "$view/info/"; fi
  if [ -d "$common/lfs" ]; then ln -s "$common/lfs" "$view/lfs"; fi
  for f in "$dir"/sharedindex.*; do
    if [ -f "$f" ]; then ln -s "$f" "$view/"; fi
  done
  echo "${head:-ref: refs/heads/unborn}" >"$view/HEAD"
  # A damaged repository's own configuration is not even read.
  {
    if [ -n "$INCLUDE" ]; then printf %s "$INCLUDE"
    elif [ -d "$common/lfs" ] && command -v git-lfs >/dev/null; then
      printf '[filter "lfs"]\n\tclean = git-lfs clean -- %%f\n\tprocess = git-lfs filter-process\n\trequired\n'
    fi
    printf '[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tlogAllRefUpdates = false\n'
    printf '[extensions]\n\tobjectformat = %s\n' "$form"
  } >"$view/config"
  [ -n "$INCLUDE" ] || mngr_isolate
  GIT_DIR=$view GIT_WORK_TREE=$(pwd) GIT_INDEX_FILE=$view/index
  export GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
  if [ -f "$dir/index" ]; then cp "$dir/index" "$view/index"; fi
  if ! git ls-files -z >/dev/null 2>&1; then
    rm -f "$view/index"
    if [ -n "$head" ]; then git read-tree "$head"; fi
  fi
}
