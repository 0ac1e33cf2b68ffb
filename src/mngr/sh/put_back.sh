# Makes an agent's files and work dir what they were in the snapshot in directory S; the log and ignored files stay. Prints a
# word when HEAD could not be put back as it was. One of lib/put_back_*.sh defines `mngr_put_back`.
# uses: left_out
umask 077
[ -d "$S/state" ] || exit "$EXIT_NO_DIRECTORY"
cd -- "$WORK_DIR" 2>/dev/null || exit "$EXIT_NO_DIRECTORY"
mngr_put_back
cd -- "$AGENT_DIR" || exit
for f in ./* ./.[!.]*; do
  [ -e "$f" ] || [ -L "$f" ] || continue
  mngr_left_out "${f#./}" || rm -rf "$f"
done
cp -pR "$S/state/." .
