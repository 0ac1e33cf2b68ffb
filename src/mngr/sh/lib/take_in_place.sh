# A snapshot of a work dir that is the user's own, and so are its repository and what that configures.
# uses: commit_work
# A folder that merely lies within another repository counts too.
mngr_has_git() { git rev-parse --is-inside-work-tree >/dev/null 2>&1; }
# shellcheck disable=SC2034 # for the program
mngr_take() {
  case $HOST_DIR/ in
    "$(git rev-parse --show-toplevel)"/*) git check-ignore -q "$HOST_DIR" || exit "$EXIT_HOLDS_HOST_DIR" ;;
  esac
  commit=$(mngr_commit_work)
  head=$(git rev-parse -q --verify 'HEAD^{commit}' || :)
  branch=$(git symbolic-ref -q HEAD || :)
  repository=$(git rev-parse --path-format=absolute --git-common-dir)
  [ -z "$commit" ] || git --git-dir="$repository" update-ref "$REFS$NAME" "$commit"
}
