# Sets "$@" to what is in FOLDER, but for the names that LEAVE_OUT leaves out.
# uses: left_out
cd -- "$FOLDER" || exit "$EXIT_NO_DIRECTORY"
set --
for f in ./* ./.[!.]* ./..?*; do
  [ -e "$f" ] || [ -L "$f" ] || continue
  mngr_left_out "${f#./}" || set -- "$@" "$f"
done
