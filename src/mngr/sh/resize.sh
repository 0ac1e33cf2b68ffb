# Sets the terminal of the process with the mark $1 to $2 rows and $3 columns.
# shellcheck disable=SC2013 # paths of /proc have no blanks
for file in $(grep -slF "$1" /proc/[0-9]*/environ 2>/dev/null); do
  stty rows "$2" cols "$3" <"${file%/environ}/fd/0" && exit
done 2>/dev/null
