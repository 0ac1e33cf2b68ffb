# Hands the request that stdin holds to OpenCode's plugin, as file $2 in its home $1, and prints the answer. Waits for it at
# most $3 times; a request that the plugin does not take is taken back, so that it never will.
umask 077
cd "$1" || exit "$EXIT_NOT_TAKEN"
cat >"in/$2.new" && mv "in/$2.new" "in/$2" || exit "$EXIT_NOT_TAKEN"
pid=; { read -r pid _ <ready; } 2>/dev/null
n=0
until [ -e "answer/$2" ] || [ "$n" -ge "$3" ] || ! kill -0 "${pid:-0}" 2>/dev/null; do
  n=$((n + 1)); sleep 0.05
done
mv "in/$2" "in/$2.back" 2>/dev/null && { rm -f "in/$2.back"; exit "$EXIT_NOT_TAKEN"; }
[ -e "answer/$2" ] || exit "$EXIT_NO_ANSWER"
cat "answer/$2" && rm -f "answer/$2"
