# Prints where the host dir is; $1 is what the config says of it.
# shellcheck disable=SC2088 # the config has a tilde that no shell expanded
case $1 in
  '') dir=${MNGR_HOST_DIR:-$HOME/.mngr} ;;
  '~') dir=$HOME ;;
  '~/'*) dir=$HOME/${1#'~/'} ;;
  *) dir=$1 ;;
esac
printf %s "$dir"
