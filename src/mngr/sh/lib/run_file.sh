# What a run file does before it becomes a program. It assigns no variables but `s` and `b`: any other may be the agent's.

# Takes the agent's place for `run.sh launch`, whose word is $1: writes which process this is, by way of the file $2, into the
# file $3; for `run.sh -- …` only the rest.
mngr_begin() {
  if [ "$1" = launch ]; then
    s=; [ -r /proc/$$/stat ] && read -r s </proc/$$/stat
    b=-; [ -r /proc/sys/kernel/random/boot_id ] && read -r b </proc/sys/kernel/random/boot_id
    (umask 077; printf '%s\n' "$$ $b $s" >"$2") && mv -f "$2" "$3" || exit "$EXIT_NOT_WRITTEN"
  fi
  unset TMUX TMUX_PANE
}
# Goes to the directory $1; programs in the directory $2 come first.
mngr_go_to() {
  export PATH="$2:${PATH:-/usr/local/bin:/usr/bin:/bin}"
  cd -- "$1" || exit "$EXIT_NO_DIRECTORY"
}
