# Makes the directory FOLDER, or takes an empty one, and notes in the file MARK that it is ours.
if [ -e "$FOLDER" ] || [ -L "$FOLDER" ]; then
  [ -d "$FOLDER" ] && [ -z "$(ls -A -- "$FOLDER")" ] || exit "$EXIT_OCCUPIED"
fi
mkdir -p -- "${MARK%/*}"
printf %s "$FOLDER" >"$MARK"
mkdir -p -- "$FOLDER"
