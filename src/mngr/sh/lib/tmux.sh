# Runs a tmux command on our server, and starts none: that would inherit our environment. SOCKET is the path of the
# server's socket, or `socket` where that is too long for an address: then tmux runs in its directory TMUX_DIR. Another
# place for the socket, such as /tmp, would be one that other users reach.
mngr_tmux() {
  if [ "$SOCKET" = socket ]; then
    (cd "$TMUX_DIR" && [ -O . ] && exec tmux -N -S socket "$@")
  else
    tmux -N -S "$SOCKET" "$@"
  fi
}
