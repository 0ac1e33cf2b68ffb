# Whether $2, a match of pattern number $1, is there and lies in the folder `$top`, also by its links. Where not, it says so.
# shellcheck disable=SC2154 # `top` is set by the program
mngr_match() {
  if ! [ -e "$2" ] && ! [ -L "$2" ]; then echo "mngr-missing $1" >&2; return 1; fi
  case "$(cd -P -- "${2%/*}" && pwd -P)/" in "${top%/}"/*) return 0 ;; esac
  echo "mngr-outside $1" >&2; return 1
}
