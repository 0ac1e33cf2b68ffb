"""Resolves the most common conflict of many agents: each added its own lines at the same place of a test file."""

import os
import tempfile

import mngr
from mngr_lib.git import git_argv, git_env
from mngr_tmr.git import Merge, Repository, TreeEntry
from mngr_tmr.integrate.branch.syntax_check import keeps_syntax

_WIDTH = 47
_OURS, _BASE, _THEIRS, _END = (sign * _WIDTH for sign in (b"<", b"|", b"=", b">"))


def keep_both(repo: Repository, merged: Merge) -> str | None:
    """The merged tree with the insertions of both sides, ours first; None when there is any other conflict.

    Both sides must have changed a file that was there before, and neither its mode.
    """
    sides: dict[str, dict[int, TreeEntry]] = {}
    for path, stage, entry in merged.stages:
        sides.setdefault(path, {})[stage] = entry
    for by_stage in sides.values():
        modes = {entry.mode for entry in by_stage.values()}
        if set(by_stage) != {1, 2, 3} or len(modes) != 1 or not modes <= {"100644", "100755"}:
            return None
    if len(merged.messages) != len(sides):
        return None
    blobs = repo.blobs(entry.id for by_stage in sides.values() for entry in by_stage.values())
    entries = []
    for path, by_stage in sides.items():
        contents = [blobs.get(by_stage[stage].id, b"\0") for stage in (1, 2, 3)]
        data = _both(contents)
        if data is None or not all(keeps_syntax(path, side, data) for side in contents[1:]):
            return None
        entries.append(TreeEntry(path, by_stage[2].mode, repo.write_blob(data)))
    return repo.compose(merged.tree, entries)


def _both(contents: list[bytes]) -> bytes | None:
    """The merged file with both insertions; None where a conflict is more than that."""
    base, ours, theirs = contents
    if any(b"\0" in side for side in contents):
        return None
    with tempfile.TemporaryDirectory(prefix="mngr-tmr-") as folder:
        names = [os.path.join(folder, name) for name in ("ours", "base", "theirs")]
        for name, data in zip(names, (ours, base, theirs), strict=True):
            with open(name, "wb") as file:
                file.write(data)
        argv = git_argv("merge-file", "-p", "--diff3", f"--marker-size={_WIDTH}", *names)
        done = mngr.run_program(argv, timeout_s=60, env=git_env(), cwd=folder)
    if done.code > 127:
        return None
    joined: list[bytes] = []
    part, kept = b"", dict[bytes, list[bytes]]()
    for line in done.stdout.splitlines(keepends=True):
        sign = line[:_WIDTH]
        if sign in (_OURS, _BASE, _THEIRS) and len(line.split()[0]) == _WIDTH:
            part = sign
            kept[part] = []
        elif sign == _END and part:
            if kept.get(_BASE):
                return None
            joined += (*kept[_OURS], *kept[_THEIRS])
            part, kept = b"", {}
        else:
            (kept[part] if part else joined).append(line)
    return b"".join(joined)
