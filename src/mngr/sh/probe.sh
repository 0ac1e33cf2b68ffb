# Prints every agent's files, panes and processes. It starts a fixed number of processes, however many agents there are.
# $1 host dir, $2 the directory of the tmux socket, $3 a glob of agent ids, $4 after how many seconds the probe ends by
# itself, whatever holds it up; empty: never.
# uses: look
[ -z "$4" ] || mngr_end_after "$4"
mngr_look "$1" "$2" "$3"
