# Ends as the script before it did, or runs the lines in `$then` in a shell of their own. The script's stdout may carry a
# protocol, so what they print follows MARK on stderr. Not `( … ) || exit`: the script would go on after a failure.
# shellcheck disable=SC2154 # `then` is set before
code=$?; [ "$code" = 0 ] || exit "$code"
printf %s "$MARK" >&2
out=$(exec </dev/null; eval "$then")
code=$?; printf '%s%s' "$MARK" "$out" >&2
exit "$code"
