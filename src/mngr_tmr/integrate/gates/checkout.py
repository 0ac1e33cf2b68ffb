"""A commit's files in a folder: written by us, so that no filter, hook, attribute or link of it takes part."""

import os

from mngr_tmr.git import Repository

_FILE_LIMIT = 256 << 20
_LINK, _MODULE = "120000", "160000"


def write_files(repo: Repository, commit: str, folder: str) -> None:
    """Fills an empty folder. Links are made last, so that nothing is ever written through one."""
    entries = repo.entries(commit)
    blobs = repo.blobs((entry.id for entry in entries.values()), limit=_FILE_LIMIT)
    links = []
    for path, entry in entries.items():
        if any(part in ("", ".", "..", ".git") for part in path.split("/")):
            raise ValueError(f"{path!r} is no path of a working copy")
        target = os.path.join(folder, path)
        if entry.mode == _LINK:
            links.append((blobs.get(entry.id, b""), target))
        elif entry.mode == _MODULE:
            os.makedirs(target, exist_ok=True)
        elif entry.id in blobs:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            fd = os.open(
                target,
                os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW,
                0o755 if entry.mode == "100755" else 0o644,
            )
            with os.fdopen(fd, "wb") as file:
                file.write(blobs[entry.id])
    for to, target in links:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.symlink(to, os.fsencode(target))
