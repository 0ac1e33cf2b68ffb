# Runs an agent's run file, which is $0, with these parameters and none of our environment.
# uses: clean_env
mngr_clean sh "$0" "$@"
