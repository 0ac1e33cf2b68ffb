# Makes the directory of the snapshot NAME in ALL and fills it; prints a `Taken`, a field a line. With NUMBERED the first free
# number follows the name. On failure the directory is removed again. REFS is where the references of the agent's snapshots
# are. One of lib/take_*.sh defines `mngr_has_git` and `mngr_take`.
# uses: left_out
umask 077
mkdir -p "$ALL"
if [ -n "$NUMBERED" ]; then
  n=1
  until mkdir "$ALL/$NAME-$n" 2>/dev/null; do [ -d "$ALL/$NAME-$n" ]; n=$((n + 1)); done
  NAME=$NAME-$n
else
  mkdir "$ALL/$NAME" 2>/dev/null || { [ -d "$ALL/$NAME" ] && exit "$EXIT_TAKEN"; exit 1; }
fi
S=$ALL/$NAME
trap '[ "$?" = 0 ] || rm -rf "$S"' EXIT
trap 'exit 130' HUP INT TERM
cp -p "$RUN_FILE" "$S/run.sh"
mkdir "$S/state"
cd -- "$AGENT_DIR" || exit
for f in ./* ./.[!.]*; do
  [ -e "$f" ] || [ -L "$f" ] || continue
  mngr_left_out "${f#./}" || cp -pR "$f" "$S/state/" || [ ! -e "$f" ]
done
cd -- "$WORK_DIR" 2>/dev/null || exit "$EXIT_NO_DIRECTORY"
commit= head= branch= repository=
if mngr_has_git; then
  mngr_take
else
  case $HOST_DIR/ in "$(pwd -P)"/*) exit "$EXIT_HOLDS_HOST_DIR" ;; esac
  tar -c -f "$S/files.tar" . || [ "$?" = 1 ]
fi
printf '%s\n' "$NAME" "$commit" "$head" "$branch" "$repository" "$REFS$NAME"
