# Prints the file $1. Opening a FIFO would wait for its writer.
[ -e "$1" ] || exit "$EXIT_NO_FILE"
[ -f "$1" ] || { printf '%s: it is not a regular file\n' "$1" >&2; exit 1; }
exec cat -- "$1"
