# The repository of the work dir WORK_DIR. OWNER is the repository that it is a worktree of, `own` where it has one to itself,
# and `any` where its `.git` may lead anywhere. Python defines `mngr_isolate`: after it, git starts nothing that the
# repository's configuration names.

# git on that repository: only for references, which start nothing, whatever is configured.
its_git() ( mngr_isolate; export GIT_DIR="$dir"; git "$@" )
# Goes into the work dir and sets `dir`, `common`, `form`, `head` and `branch` of its repository.
# shellcheck disable=SC2034 # for the programs
mngr_enter() {
  cd -- "$WORK_DIR" 2>/dev/null || exit "$EXIT_NO_DIRECTORY"
  [ -e .git ] || [ -L .git ] || exit "$EXIT_NO_REPOSITORY"
  dir=$(pwd)/.git
  # rev-parse repeats a flag it does not know: a separator that no path can fake, newlines included.
  common=$(its_git rev-parse --absolute-git-dir --mngr-mark --path-format=absolute --git-common-dir --mngr-mark \
    --show-object-format) || exit "$EXIT_UNREADABLE"
  mark='
--mngr-mark
'
  dir=${common%%"$mark"*} common=${common#*"$mark"}
  form=${common##*"$mark"} common=${common%%"$mark"*}
  case $OWNER in
    any) ;;
    own) [ -d .git ] && [ ! -L .git ] && [ "$dir" = "$common" ] ;;
    *) [ "$dir" != "$common" ] && [ "$(cd -P -- "$common" && pwd)" = "$(cd -P -- "$OWNER" && pwd)" ] ;;
  esac || { echo 'its .git leads to another repository' >&2; exit "$EXIT_OTHER_REPOSITORY"; }
  head=$(its_git rev-parse -q --verify HEAD || :)
  branch=$(its_git symbolic-ref -q HEAD || :)
}
