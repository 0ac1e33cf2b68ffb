# uses: view commit_view

# Copies the commit `$commit` from a view into the host's store as the reference $1, and sets `repository` to the store, which
# is made if missing. ALL is the directory of the snapshots.
# shellcheck disable=SC2154,SC2209 # `commit` and `form` are set before; `file` is a protocol
mngr_store() {
  repository=$ALL/store-$form.git
  mkdir -p "$ALL"
  if ! [ -d "$repository" ]; then
    ( unset GIT_DIR GIT_WORK_TREE; git init -q --bare --template= --object-format="$form" "$repository" )
  fi
  git --git-dir="$repository" config receive.shallowUpdate true
  [ -z "$commit" ] || GIT_ALLOW_PROTOCOL=file git -c push.followTags=false -c push.gpgSign=false push -q --no-verify \
    "$repository" "$commit:$1"
}
