# uses: commit_tree view

# Prints the id of a commit that holds the work tree of a view as it is: HEAD's own when it is clean.
#
# Not by `git add`: it asks embedded repositories whether they are dirty, and their own configuration is used for that. A
# deleted path may lie behind a link by now, which update-index only takes when it need not look. Of an embedded repository
# the commit is noted, as `git add` does, by the sh program ADD_EMBEDDED; one without commits is left out.
# shellcheck disable=SC2034,SC2154 # `tree` is for mngr_commit_tree, `view` is set before
mngr_commit_view() {
  diff='git diff-files -z --name-only --no-renames --no-ext-diff --ignore-submodules=dirty'
  $diff --diff-filter=D >"$view/gone"
  $diff --diff-filter=d >"$view/changed"
  git ls-files -z -o --exclude-standard >"$view/new"
  xargs -0 sh -c 'for path do case $path in */) ;; *) printf "%s\0" "$path" ;; esac; done' sh \
    <"$view/new" >>"$view/changed"
  xargs -0 sh -c 'for path do case $path in */) printf "%s\0" "${path%/}" ;; esac; done' sh \
    <"$view/new" >"$view/embedded"
  git -c core.splitIndex=false update-index -z --force-remove --stdin <"$view/gone"
  git -c core.splitIndex=false update-index -z --add --remove --replace --stdin <"$view/changed"
  if [ -s "$view/embedded" ]; then xargs -0 -n 1 sh -c "$ADD_EMBEDDED" sh <"$view/embedded"; fi
  tree=$(git write-tree)
  mngr_commit_tree
}
