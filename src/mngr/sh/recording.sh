# Prints when the recording in directory $1 was last written and the length of its index, then the index, then the
# recording.
cd "$1" 2>/dev/null && [ -f raw ] || exit "$EXIT_NO_RECORDING"
dated=$(wc -c 2>/dev/null <raw.tim) || dated=0
echo "$(date -r raw +%s.%N) $dated"
[ "$dated" -eq 0 ] || head -c "$dated" raw.tim
cat raw
