# Becomes Claude Code, the command "$@". Approves the key that this agent was given by name, and copies credentials if their
# file was given.
home=$CLAUDE_CONFIG_DIR key=${ANTHROPIC_API_KEY-}
case $key in *[!A-Za-z0-9_-]*) key= ;; esac
while [ "${#key}" -gt 20 ]; do key=${key#?}; done
[ -e "$home/.claude.json" ] || (umask 077; sed "s/@KEY@/$key/" "$home/first.json" >"$home/.claude.json")
if [ -n "${MNGR_CLAUDE_CREDENTIALS-}" ] && [ ! -e "$home/.credentials.json" ]; then
  (umask 077; cp -- "$MNGR_CLAUDE_CREDENTIALS" "$home/.credentials.json") || exit
fi
(umask 077; mkdir -p "$home/tmp") || exit
[ ! -p "$home/in" ] || exec "$@" <>"$home/in"
exec "$@"
