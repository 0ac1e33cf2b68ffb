"""Content filters that a work dir's own configuration names: an agent can plant programs there that git would run."""

# Values that come by the environment win over files. Of the user's own and the machine's configuration nothing is
# changed, and git-lfs stays what it is.
WITHOUT_FILTERS = """\
n=${GIT_CONFIG_COUNT:-0} lfs=$(command -v git-lfs || :)
filters=$(git config --includes --show-scope --name-only --get-regexp '^filter[.]' || :)
while IFS= read -r line; do
  key=${line#*	} value=
  case $line in
    local*|worktree*) ;;
    *) continue ;;
  esac
  case ${lfs:+$key} in
    filter.lfs.clean) value='git-lfs clean -- %f' ;;
    filter.lfs.process) value='git-lfs filter-process' ;;
    filter.lfs.required) value=true ;;
  esac
  case $key in *.required) value=${value:-false} ;; esac
  export "GIT_CONFIG_KEY_$n=$key" "GIT_CONFIG_VALUE_$n=$value"
  n=$((n + 1))
done <<MNGR_FILTERS
$filters
MNGR_FILTERS
export GIT_CONFIG_COUNT="$n"
"""
"""Shell lines after which git runs no filter that the repository in the current directory configures."""
