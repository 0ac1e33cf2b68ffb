# Whether the name $1 matches one of the patterns in LEAVE_OUT, which are separated by blanks.
mngr_left_out() {
  set -f
  for pattern in $LEAVE_OUT; do
    # shellcheck disable=SC2254 # it is a pattern
    case $1 in $pattern) set +f; return 0 ;; esac
  done
  set +f
  return 1
}
