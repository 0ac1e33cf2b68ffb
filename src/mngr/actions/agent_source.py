"""The work of an agent as the source of another."""

import msgspec

from mngr.actions.destroy import source_of
from mngr.actions.manager import Manager
from mngr.actions.targets import resolve_one
from mngr.errors import UsageError
from mngr.hosts.protocol import Host, shares_files
from mngr.model.agent import AgentSpec
from mngr.transfer.fetch import look
from mngr.transfer.protocol import WorkSource
from mngr.transfer.source import find_source
from mngr.transfer.view import checkout_of


def find_work(name: str, base: str, manager: Manager, *, include_dirty: bool) -> WorkSource:
    """The repository that the agent of that name works in."""
    row = resolve_one(manager, name)
    hint = f"mngr clone {row.agent.name} NEW"
    if not shares_files(row.host):
        raise UsageError(f'the work of "{row.agent.name}" is on host "{row.host.name}"', hint=hint)
    source = worked_on(row.host, row.spec, base=base, include_dirty=include_dirty)
    if source is None:
        raise UsageError(f'"{row.agent.name}" has a repository of its own', hint=hint)
    return msgspec.structs.replace(source, project=row.spec.project)


def worked_on(
    host: Host, spec: AgentSpec, *, base: str = "", include_dirty: bool = True
) -> WorkSource | None:
    """The repository that an agent here works in, from where it stands; None when it is the agent's own.

    What a worktree's own files say about the repository is not relied on: the record says which one it is.
    """
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
