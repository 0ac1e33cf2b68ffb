# Becomes OpenCode with the words "$@". It has no directory of its own to name, so it is given other ones than the usual;
# the plugin gives the usual ones to the programs that the agent runs.
home=$MNGR_AGENT_STATE_DIR/opencode
command -v opencode >/dev/null || exec opencode
export MNGR_USUAL_CONFIG="${XDG_CONFIG_HOME-}" MNGR_USUAL_DATA="${XDG_DATA_HOME-}"
export MNGR_USUAL_STATE="${XDG_STATE_HOME-}" MNGR_USUAL_CACHE="${XDG_CACHE_HOME-}"
export XDG_CONFIG_HOME="$home/config" XDG_DATA_HOME="$home/data"
export XDG_STATE_HOME="$home/state" XDG_CACHE_HOME="$home/cache"
rm -f "$home/ready"
# At every start it unpacks 19 MB of libraries and leaves them there.
export BUN_TMPDIR="$home/tmp"
rm -rf "$BUN_TMPDIR" && (umask 077; mkdir "$BUN_TMPDIR") || exit
database=$home/data/opencode/opencode.db
# OpenCode hangs on a file that is no database any more; without one it begins anew.
if [ -s "$database" ] && [ "$(head -c 15 "$database")" != "SQLite format 3" ]; then
  mv -f "$database" "$database.damaged" && rm -f "$database-wal" "$database-shm"
fi
login=$home/data/opencode/auth.json
if [ -n "${MNGR_OPENCODE_CREDENTIALS-}" ] && [ ! -e "$login" ]; then
  (umask 077; mkdir -p "$home/data/opencode" && cp -- "$MNGR_OPENCODE_CREDENTIALS" "$login") || exit
fi
exec opencode "$@"
