"""Names and sizes from a stranger: what they may touch on this machine."""

import os
import sys

from msgspec import Struct

from mngr_lib.safe_text import one_line

# Characters that HFS+ leaves out when it compares names.
_IGNORED = frozenset(
    map(chr, (*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))
)


class Limits(Struct, frozen=True):
    """Limits of one pull."""

    file_bytes: int = 1 << 30
    total_bytes: int = 4 << 30
    files: int = 100_000


def show(name: str) -> str:
    """A name for a terminal: what could act on it is spelled out."""
    return one_line(name)


def show_size(size: int) -> str:
    for unit, one in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if size >= one:
            return f"{size / one:.1f} {unit}"
    return f"{size} bytes"


def plain_path(name: str) -> str | None:
    """The relative path that a name stands for; None when it points anywhere but below."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\0" in name:
        return None
    return "/".join(parts)


def belongs_to_git(path: str) -> bool:
    """Whether git would run what lies there, or take its folder for a repository whose settings name programs.

    Some file systems ignore case and invisible characters in names, and git finds a bare repository by its HEAD.
    """
    parts = ["".join(char for char in part if char not in _IGNORED) for part in path.split("/")]
    name = parts[-1].upper() if sys.platform == "darwin" else parts[-1]
    return name == "HEAD" or any(part.casefold() in (".git", "git~1") for part in parts)


def stays_inside(path: str, target: str) -> bool:
    """Whether a link at `path` can only lead below the root, also through other links that do."""
    parts = [part for part in target.split("/") if part not in ("", ".")]
    ups = next((count for count, part in enumerate(parts) if part != ".."), len(parts))
    # ".." after a name could climb out of a linked directory; before one it counts real directories.
    return bool(target) and target[0] != "/" and ".." not in parts[ups:] and ups <= path.count("/")


def open_parent(root: str, path: str) -> int:
    """A descriptor of the directory that holds `path`, made if missing; OSError if a link is in the way."""
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    for part in path.split("/")[:-1]:
        try:
            try:
                os.mkdir(part, 0o755, dir_fd=fd)
            except FileExistsError:
                pass
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=fd)
        finally:
            os.close(fd)
        fd = below
    return fd
