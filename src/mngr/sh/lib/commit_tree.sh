# Prints the id of a commit of the tree `$tree` on HEAD: HEAD's own where it has this tree, and nothing where the tree is empty
# and there is no HEAD. MESSAGE is the message of a new commit.
# shellcheck disable=SC2154 # `tree` is set by the program
mngr_commit_tree() {
  export GIT_AUTHOR_NAME=mngr GIT_AUTHOR_EMAIL=mngr@localhost
  export GIT_COMMITTER_NAME=mngr GIT_COMMITTER_EMAIL=mngr@localhost
  if head=$(git rev-parse -q --verify 'HEAD^{commit}'); then
    if [ "$tree" = "$(git rev-parse 'HEAD^{tree}')" ]; then echo "$head"
    else git commit-tree -p "$head" -m "$MESSAGE" "$tree"
    fi
  elif [ -n "$(git ls-tree "$tree")" ]; then git commit-tree -m "$MESSAGE" "$tree"
  fi
  unset GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
}
