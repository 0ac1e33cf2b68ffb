# Files and index of an agent's own work dir are made in a view of its repository; of that itself only HEAD is moved.
# uses: view_index take_over put_back_head
mngr_put_back() {
  mngr_enter
  ( mngr_lock_index
  mngr_view
  mngr_take_over GIT_ALLOW_PROTOCOL=file
  mngr_keep_index )
  mngr_put_back_head
  head=$(its_git rev-parse -q --verify HEAD || :)
  ( mngr_lock_index
  mngr_view
  if [ -n "$head" ]; then git read-tree --reset "$head"; else git read-tree --empty; fi
  git update-index -q --refresh || :
  mngr_keep_index )
}
