# Names what lies under HOST_DIR without an owner, as records KIND, agent's id and path, separated by tabs and ended by NUL.
# It only names what no living agent can need whatever happens next. The kinds are those of actions/gc/scan.py.
# uses: tmux
LC_ALL=C; export LC_ALL
[ -d "$HOST_DIR" ] || exit 0
say() { printf '%s\t%s\t%s\0' "$1" "$2" "$3"; }
there() { [ -e "$1" ] || [ -L "$1" ]; }
# A file that is being written has been touched within a minute, a directory that is being filled within an hour.
old_file() { [ -n "$(find "$1" -prune -mmin +1 2>/dev/null)" ]; }
old_dir() { [ -n "$(find "$1" -prune -mmin +60 2>/dev/null)" ]; }
for f in "$HOST_DIR"/names/*; do
  [ -f "$f" ] || continue
  owner=; { read -r owner <"$f"; } 2>/dev/null
  if [ -n "$owner" ]; then [ -d "$HOST_DIR/agents/$owner" ] && continue; else old_file "$f" || continue; fi
  say 'name' "$owner" "$f"
done
for f in "$HOST_DIR"/work/* "$HOST_DIR"/work/.[!.]*; do
  case ${f##*/} in .removed.*) continue ;; esac
  if there "$f"; then say 'work dir' '' "$f"; fi
done
for f in "$HOST_DIR"/agents/.removed.* "$HOST_DIR"/work/.removed.*; do
  if there "$f"; then say 'unfinished removal' '' "$f"; fi
done
for f in "$HOST_DIR"/agents/*; do
  [ -d "$f" ] && ! there "$f/agent.json" && old_dir "$f" && say 'agent dir' "${f##*/}" "$f"
done
if command -v tmux >/dev/null 2>&1; then
  if mngr_tmux show-options -s exit-empty >/dev/null 2>&1; then
    mngr_tmux list-sessions -F '#{@mngr_id} #{session_name}' 2>/dev/null | while read -r id name; do
      case $id in agent-*) [ -d "$HOST_DIR/agents/$id" ] || say 'session' "$id" "$name" ;; esac
    done
  elif [ -S "$TMUX_DIR/socket" ]; then say 'socket' '' "$TMUX_DIR/socket"
  fi
fi
find "$HOST_DIR" -maxdepth 3 \( -path "$HOST_DIR/work" -prune \) -o -type f -mmin +1 \
  \( -name '*.new.[0-9]*' -o -name 'bell.[0-9]*' -o -name '.pid' \) -print | while read -r f; do
  say 'temporary file' '' "$f"
done
for f in "$HOST_DIR"/tmp/*; do
  if there "$f" && old_dir "$f"; then say 'temporary file' '' "$f"; fi
done
for f in "$HOST_DIR"/made/*; do
  [ -f "$f" ] && old_file "$f" && ! there "$(cat "$f")" && say 'temporary file' '' "$f"
done
for f in "$HOST_DIR"/snapshots/*; do
  case $f in *.git) continue ;; esac
  [ -d "$f" ] && ! there "$f/snapshot.json" && old_dir "$f" && say 'unfinished snapshot' '' "$f"
done
for f in "$HOST_DIR"/tmux/*.new.[0-9]* "$HOST_DIR"/names.lock.new.[0-9]* "$HOST_DIR"/agents/*/*.lock.new.[0-9]*; do
  [ -d "$f" ] && old_file "$f" && say 'lock' '' "$f"
done
exit 0
