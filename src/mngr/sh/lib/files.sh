# Replaces the file $1 as a whole with the text $2: written beside it, then renamed.
mngr_put() {
  (umask 077; printf %s "$2" >"$1.new.$$") && mv -f "$1.new.$$" "$1"
}
