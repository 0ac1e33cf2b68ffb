# Replaces what is in the work dir by the files of the snapshot in directory S.
mngr_put_back() {
  new=./.mngr-restore.$$
  mkdir "$new"
  tar -x -p -f "$S/files.tar" -C "$new" || { rm -rf "$new"; exit 1; }
  for f in ./* ./.[!.]* ./..?*; do
    [ "$f" = "$new" ] || rm -rf "$f"
  done
  for f in "$new"/* "$new"/.[!.]* "$new"/..?*; do
    if [ -e "$f" ] || [ -L "$f" ]; then mv -f "$f" ./; fi
  done
  rmdir "$new"
}
