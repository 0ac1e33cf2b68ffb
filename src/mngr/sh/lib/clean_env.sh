# Becomes a command with all of the environment that reaches our tmux server, and so every agent.
mngr_clean() {
  exec env -i HOME="$HOME" PATH="$PATH" LANG="${LANG:-C.UTF-8}" TERM=xterm-256color SHELL=/bin/sh "$@"
}
