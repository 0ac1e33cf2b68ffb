# Codex runs no hook that is not trusted, and asks about it. Ours are trusted by the sums that it computes itself; it is
# asked for them once for each release of it. Hooks of the repository stay what they are: a question to a person. "$@" are
# more words for the app server.
home=$CODEX_HOME
release=$(ls -lL "$(command -v codex)")
[ "$release" != "$(cat "$home/trusted" 2>/dev/null)" ] || exit 0
rm -f "$home/ask" "$home/answer" && mkfifo "$home/ask" || exit
codex "$@" app-server <"$home/ask" >"$home/answer" 2>/dev/null &
exec 8>"$home/ask"
printf '%s\n' '{"id":1,"method":"initialize","params":{"clientInfo":{"name":"mngr","version":"1"}}}' \
  '{"method":"initialized"}' '{"id":2,"method":"hooks/list","params":{}}' >&8
n=0
until grep -q '"id":2' "$home/answer" || [ "$n" -ge 200 ]; do n=$((n + 1)); sleep 0.05; done
exec 8>&-
awk -v ours="[hooks.state.\"$home/hooks.json:" '
  /^\[/ { skip = index($0, ours) == 1 } !skip' "$home/config.toml" >"$home/config.new"
sed 's/{"key":"/\
/g' "$home/answer" | sed -n 's/^\([^"]*\)".*"currentHash":"\(sha256:[0-9a-f]*\)".*/\1 \2/p' |
while read -r key sum; do
  case $key in "$home/hooks.json:"*) printf '\n[hooks.state."%s"]\ntrusted_hash = "%s"\n' "$key" "$sum" ;; esac
done >>"$home/config.new"
mv -f "$home/config.new" "$home/config.toml"
rm -f "$home/ask" "$home/answer"
printf '%s\n' "$release" >"$home/trusted"
