# Makes the files of a work tree those of the commit TREE, fetched from the reference REF of REPOSITORY where it is missing,
# with the variable "$1", if given; empty: no files. What is ignored stays.
mngr_take_over() {
  [ -z "$TREE" ] || git cat-file -e "$TREE" 2>/dev/null || (
    [ $# = 0 ] || export "${1?}"
    git -c protocol.file.allow=always fetch -q --no-tags --no-write-fetch-head --no-recurse-submodules \
      "$REPOSITORY" "$REF"
  )
  git read-tree --reset -u "${TREE:-$(git hash-object -w -t tree /dev/null)}"
  git clean -q -f -d
}
