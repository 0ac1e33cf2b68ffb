# Files and index of a work dir that is the user's own; HEAD stays.
# uses: take_over
mngr_put_back() {
  cd -- "$(git rev-parse --show-toplevel)" || exit
  mngr_take_over
  git reset -q --mixed
}
