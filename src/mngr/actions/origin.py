"""Where an agent's work comes from: a folder, another agent, or a repository behind a URL."""

import os
import re

import msgspec

from mngr.actions.manager import Manager
from mngr.errors import MngrError
from mngr.model.ids import is_agent_id, is_valid_name, slug
from mngr.store.lock import locked
from mngr.transfer.git import git
from mngr.transfer.protocol import WorkSource
from mngr.transfer.source import find_source

_URL = r"[a-z][a-z0-9+.-]*://|[^/\s:]+@[^/\s:]+:"
_CLONE_S = 1800.0


def find_origin(text: str, base: str, manager: Manager, *, include_dirty: bool) -> WorkSource:
    """Reads `--from`: a path first, then a git URL, then an agent's name."""
    path, project = os.path.join(manager.cwd, text), ""
    if not os.path.isdir(path):
        if re.match(_URL, text):
            project = slug(text.removesuffix(".git").rpartition("/")[2], 40) or "repository"
            path = _clone_of(text, project, manager)
        elif is_valid_name(text) or is_agent_id(text):
            from mngr.actions.agent_source import find_work  # looks at every host, and few creations need it

            return find_work(text, base, manager, include_dirty=include_dirty)
    source = find_source(path, base=base, include_dirty=include_dirty)
    return msgspec.structs.replace(source, project=project)


def _clone_of(url: str, name: str, manager: Manager) -> str:
    """A clone of ours, made once and brought up to date each time."""
    folder = f"{manager.host_dir}/sources"
    os.makedirs(folder, mode=0o700, exist_ok=True)
    import zlib  # few creations need it

    path = f"{folder}/{name}-{zlib.crc32(url.encode()):08x}"
    with locked(f"{path}.lock", timeout_s=_CLONE_S):
        if not os.path.isdir(f"{path}/.git"):
            done = git(folder, "clone", "-q", "--", url, path, timeout_s=_CLONE_S)
        else:
            done = git(path, "fetch", "-q", "--prune", "origin", timeout_s=_CLONE_S)
            done = (
                done if done.code else git(path, "reset", "-q", "--hard", "@{upstream}", timeout_s=_CLONE_S)
            )
    if done.code:
        raise MngrError(
            f"cannot fetch {url}: {done.complaint}", hint="does git reach it? git ls-remote " + url
        )
    return path
