# Prints the lines that match $3 of the session file $1, or of all sessions under that directory; of more than $2 bytes each
# the end. What was copied from another agent, whose size is in FILE.copied, is left out.
if [ -d "$1" ]; then find "$1" -name '*.jsonl'; elif [ -e "$1" ]; then printf '%s\n' "$1"; fi | while read -r file; do
  copied=0; [ ! -e "$file.copied" ] || read -r copied <"$file.copied"
  size=$(wc -c <"$file")
  [ $((size - copied)) -le "$2" ] || copied=$((size - $2))
  tail -c +$((copied + 1)) "$file" | tr -d '\000' | grep -E "$3"
done
