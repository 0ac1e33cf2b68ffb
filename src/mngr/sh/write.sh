# Replaces the file $1, with mode $2, by stdin of $3 bytes: a stream that was cut short never becomes the file.
umask 077
[ ! -d "$1" ] || { printf '%s: is a directory\n' "$1" >&2; exit 1; }
mkdir -p -- "${1%/*}/" || exit 1
new=$1.new.$$
if cat >"$new" && [ "$(wc -c <"$new")" -eq "$3" ] && chmod "$2" "$new"; then
  sync "$new" 2>/dev/null
  mv -f -- "$new" "$1" && exit 0
fi
rm -f -- "$new"
exit 1
