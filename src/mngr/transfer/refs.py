"""References of ours in a repository: under refs/mngr, for as long as an operation or a snapshot needs them."""

import os
import time
import zlib

from mngr.transfer.git import git

INCOMING, CLONE, DIRTY = "refs/mngr/incoming", "refs/mngr/clone", "refs/mngr/dirty"
SNAPSHOTS = "refs/mngr/snapshots"
# Longer than the deadlines of a transfer and what follows it: until then they may still be needed.
_UNDER_WAY_S = 2 * 3600


def temporary_ref(kind: str) -> str:
    """A name for one operation; it says when that began, so that it is known when it is not needed any more."""
    return f"{kind}/{int(time.time())}-{os.getpid()}-{os.urandom(4).hex()}"


def snapshot_refs(host_dir: str) -> str:
    """Where the snapshots of one host dir have their references: a repository may have agents of several."""
    place = f"{os.uname().nodename}:{host_dir}".encode("utf-8", "surrogateescape")
    return f"{SNAPSHOTS}/{zlib.crc32(place):08x}"


def stale_refs(common_dir: str, host_dir: str) -> list[str]:
    """References in a repository that are not needed: of operations that ended long ago, of snapshots that are gone.

    They are listed before the snapshots of the host dir are, whose directories are there first.
    """
    ours = snapshot_refs(host_dir)
    listed = git(common_dir, "for-each-ref", "--format=%(refname)", INCOMING, CLONE, DIRTY, ours)
    stale = []
    for name in filter(None, os.fsdecode(listed.stdout).split("\n")):
        if name.startswith(f"{ours}/"):
            is_stale = not os.path.lexists(os.path.join(host_dir, "snapshots", name.rpartition("/")[2]))
        else:
            # By the time in its name, else by its file: one without a file was packed, which is not done at once.
            began_at = name.split("/")[3].partition("-")[0] if name.count("/") >= 3 else ""
            path = os.path.join(common_dir, name)
            try:
                began = int(began_at) if began_at.isdigit() else os.lstat(path).st_mtime
            except OSError:
                began = 0
            is_stale = time.time() - began > _UNDER_WAY_S
        if is_stale:
            stale.append(name)
    return stale
