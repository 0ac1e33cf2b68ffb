#!/bin/sh
# A whole session on a throw-away repository: nothing outside its temporary folder is touched, nothing is left.
set -eu
folder=$(mktemp -d)
HOME=$folder MNGR_HOST_DIR=$folder/host
export HOME MNGR_HOST_DIR
trap 'mngr destroy --all --yes --quiet 2>/dev/null || :; rm -rf "$folder"' EXIT

step() {
    printf '\n$ %s\n' "$*"
    "$@"
}

mkdir "$folder/my project"
cd "$folder/my project"
git init -q -b main
git config user.name Ada
git config user.email ada@example.com
echo 'print("hello")' >hello.py
git add hello.py
git commit -q -m 'first'

cat >"$folder/playbook.json" <<'END'
[
  {"say": "I will make it greet the world."},
  {"edit": "hello.py", "replace": ["hello", "hello, world"]},
  {"run": "python3 hello.py"},
  {"commit": "greet the world", "kind": "implementation"},
  {"end_turn": true},
  {"say": "You are welcome."},
  {"exit": 0}
]
END

step mngr create greeter scripted --record -- "$folder/playbook.json"
step mngr create sleeper --transfer none -- sleep 600
step mngr wait greeter --until idle
step mngr list
step mngr capture greeter
step mngr pull greeter --ff-only
step git log --oneline
step mngr message greeter -m 'Thank you!'
step mngr wait greeter --until done
step mngr transcript greeter
step mngr stop sleeper
step mngr list
step mngr destroy --all --yes
