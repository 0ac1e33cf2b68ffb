"""Where an agent's work comes from: a folder, another agent, or a repository elsewhere."""

import os
import re

import msgspec

from mngr.actions.manager import Manager
from mngr.errors import MngrError, UsageError
from mngr.hosts.protocol import Host, shares_files
from mngr.model.agent import AgentSpec
from mngr.model.ids import is_agent_id, is_valid_name, slug
from mngr.store.lock import locked
from mngr.transfer.git import git
from mngr.transfer.protocol import WorkSource
from mngr.transfer.source import find_source

_URL = re.compile(r"[a-z][a-z0-9+.-]*://|[^/\s:]+@[^/\s:]+:")
_CLONE_S = 1800.0


def find_origin(text: str, base: str, manager: Manager, *, include_dirty: bool) -> WorkSource:
    """Reads `--from`: a path first, then a git URL, then an agent's name."""
    path = os.path.join(manager.cwd, text)
    if not os.path.isdir(path):
        if _URL.match(text):
            path = _clone_of(text, manager)
        elif is_valid_name(text) or is_agent_id(text):
            return _work_of(text, base, manager, include_dirty=include_dirty)
    return find_source(path, base=base, include_dirty=include_dirty)


def _work_of(name: str, base: str, manager: Manager, *, include_dirty: bool) -> WorkSource:
    from mngr.actions.targets import resolve_one  # only here, and it looks at every host

    row = resolve_one(manager, name)
    hint = f"mngr clone {row.agent.name} NEW"
    if not shares_files(row.host):
        raise UsageError(f'the work of "{row.agent.name}" is on host "{row.host.name}"', hint=hint)
    source = worked_on(row.host, row.spec, base=base, include_dirty=include_dirty)
    if source is None:
        raise UsageError(f'"{row.agent.name}" has a repository of its own', hint=hint)
    return source


def worked_on(
    host: Host, spec: AgentSpec, *, base: str = "", include_dirty: bool = True
) -> WorkSource | None:
    """The repository that an agent here works in, from where it stands; None when it is the agent's own.

    What a worktree's own files say about the repository is not relied on: the record says which one it is.
    """
    from mngr.actions.destroy import source_of  # a new agent seldom begins with another's work
    from mngr.transfer.fetch import look
    from mngr.transfer.view import checkout_of

    if spec.transfer == "none":
        return find_source(spec.work_dir, base=base, include_dirty=include_dirty)
    home = source_of(spec) if spec.transfer == "worktree" else None
    if home is None:
        return None
    if base:
        return find_source(home.path, base=base)
    report = look(checkout_of(host, spec.work_dir, "worktree", home), snapshot=include_dirty)
    files = report.snapshot or report.head
    return msgspec.structs.replace(home, head=report.head, head_branch=report.branch, dirty=files)


def _clone_of(url: str, manager: Manager) -> str:
    """A clone of ours, made once and brought up to date each time."""
    folder = f"{manager.host_dir}/sources"
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = f"{folder}/{slug(url.removesuffix('.git').rpartition('/')[2], 40) or 'repository'}-{_mark(url)}"
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


def _mark(url: str) -> str:
    import zlib

    return f"{zlib.crc32(url.encode()):08x}"
