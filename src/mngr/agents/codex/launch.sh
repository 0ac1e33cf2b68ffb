# Starts Codex's app server, with the words that the function server_words adds, then becomes its screen, the command "$@".
# `set -m` gives the server a process group of its own, and a reader of a pipe that the screen holds open ends that group
# when the screen is gone, however that ended. The server keeps its socket in a folder of its own and leaves it there when
# it is killed.
home=$CODEX_HOME
command -v codex >/dev/null || exec codex
usual=$(umask)
umask 077
[ -e "$home/config.toml" ] || cp "$home/first.toml" "$home/config.toml" || exit
if [ -n "${MNGR_CODEX_CREDENTIALS-}" ] && [ ! -e "$home/auth.json" ]; then
  cp -- "$MNGR_CODEX_CREDENTIALS" "$home/auth.json" || exit
fi
if [ -n "${OPENAI_API_KEY-}" ] && [ ! -e "$home/auth.json" ]; then
  printf %s "$OPENAI_API_KEY" | codex login --with-api-key >"$home/login.log" 2>&1 ||
    { cat "$home/login.log"; exit 1; }
fi
trust() { sh "$home/trust.sh" "$@"; }
server_words trust
printf '%s\n' "$PATH" >"$home/path"
rm -f "$home/alive" "$home/socket" && mkfifo "$home/alive" || exit
umask "$usual"
set -m
become_codex() { exec codex "$@"; }
server_words become_codex app-server --listen "unix://$home/socket" >"$home/server.log" 2>&1 </dev/null &
server=$!
set +m
printf '%s\n' "$$" >"$home/launched"
(
  trap '' HUP INT QUIT TERM
  read -r _ <"$home/alive"
  kill -9 "-$server"
  read -r last <"$home/launched"
  [ "$last" != "$$" ] || { real=$(readlink "$home/socket") && rm -f "$real" "$real.lock" "$home/socket"; }
) >/dev/null 2>&1 </dev/null &
exec 7>"$home/alive"
until [ -S "$home/socket" ] || ! kill -0 "$server" 2>/dev/null; do sleep 0.05; done
[ -S "$home/socket" ] || { cat "$home/server.log"; exit 1; }
exec codex "$@"
