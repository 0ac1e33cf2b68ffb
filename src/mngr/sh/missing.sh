# Prints which of the programs that agents need are missing.
for program in tmux git; do command -v "$program" >/dev/null 2>&1 || echo "$program"; done
exit 0
