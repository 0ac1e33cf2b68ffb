# Copies the conversation in OpenCode's home $1 to the home $2, marked so that what it cost is not counted twice; the
# database only while OpenCode does not run for the agent with directory $3.
umask 077
cp "$1/session" "$1/record.jsonl" "$2" || exit 1
wc -c <"$2/record.jsonl" >"$2/record.jsonl.copied"
pid= dir=; { read -r pid dir <"$1/ready"; } 2>/dev/null
[ "$dir" = "$3" ] && kill -0 "$pid" 2>/dev/null && exit "$EXIT_STILL_RUNS"
for file in opencode.db opencode.db-wal; do
  [ ! -e "$1/data/opencode/$file" ] || cp "$1/data/opencode/$file" "$2/data/opencode/" || exit 1
done
