# Prints the processes that work in the directory FOLDER, or name it in their command lines.
for p in /proc/[0-9]*; do
  [ "${p#/proc/}" != "$$" ] || continue
  case $(readlink "$p/cwd" 2>/dev/null)/ in "$FOLDER"/*) echo "${p#/proc/}"; continue ;; esac
done
# shellcheck disable=SC2062 # the last word is a glob of files
printf '%s\n' "$FOLDER" | grep -lFf - /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3
