# Ends the process group of the shell that has the mark in its command line. The mark comes on stdin, so that this does not
# find itself.
read -r mark
# shellcheck disable=SC2009,SC2046,SC2062 # one word per process; not every system has pgrep; the last word of grep is a glob
if [ -d /proc/self ]; then
  set -- $(printf '%s\n' "$mark" | grep -lFf - /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3)
else
  set -- $(ps -axww -o pid= -o command= | grep -F "$mark" | awk '{ print $1 }')
fi
for pid; do [ "$pid" = $$ ] || kill -9 "-$pid" 2>/dev/null; done
