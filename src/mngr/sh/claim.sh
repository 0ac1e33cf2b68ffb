# Makes the directory AGENT_DIR of the agent ID and takes its NAME, or leaves neither. WORK is the directory for work dirs,
# SPEC the agent's record, NOW the time; empty: by this host's clock. Prints the time.
# uses: names files
umask 077
mkdir -p "$NAMES" "$WORK" "$AGENT_DIR/outbox" || exit 1
trap '[ "$?" = 0 ] || rm -rf "$AGENT_DIR"' EXIT
mngr_put "$AGENT_DIR/agent.json" "$SPEC" || exit 1
NOW=${NOW:-$(date +%s)}
printf '{"at":%s,"kind":"creating"}\n' "$NOW" >>"$AGENT_DIR/events.jsonl" || exit 1
mngr_take_name "$NAME" "$ID"
echo "$NOW"
exit 0
