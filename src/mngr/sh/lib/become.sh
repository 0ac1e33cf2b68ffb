# Becomes the command "$@" after $1, a run file, with the variables in its lines `# odd:`. Returns where the host has neither
# perl nor python3, for which `mngr_perl` and `mngr_python` are programs.
# shellcheck disable=SC2154 # they are set by the run file: in upper case they could be variables of the agent
mngr_become_odd() {
  if command -v perl >/dev/null 2>&1; then exec perl -e "$mngr_perl" "$@"; fi
  if command -v python3 >/dev/null 2>&1; then exec python3 -I -S -c "$mngr_python" "$@"; fi
}
