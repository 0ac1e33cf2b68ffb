#!/bin/sh
# The whole test loop as one pipe of verbs. A line of JSON for each test goes in; every verb does its part and hands
# the line on as soon as it is done; the last one verifies, builds the branch and writes the page. Run it inside a
# repository; words are for `mngr tmr collect`:
#
#     examples/pipe.sh tests/e2e
#     TYPE=codex SLOTS=4 TIMEOUT=20m examples/pipe.sh tests/e2e -- -k create
#
# It needs no service and no account but the agents' own. Its exit code is that of `mngr tmr integrate`.
set -eu
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

mngr tmr collect "$@" |
    mngr create - --type "${TYPE:-claude}" --max-running "${SLOTS:-8}" --record |
    mngr wait - --timeout "${TIMEOUT:-1h}" |
    mngr pull - --outbox --to "$results" |
    mngr stop - |
    mngr tmr integrate - --results "$results"
