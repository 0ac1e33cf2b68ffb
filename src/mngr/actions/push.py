"""`push`: new commits or files for an agent."""

import os
from collections.abc import Sequence

from msgspec import structs

from mngr.actions.manager import Manager, default_manager
from mngr.actions.pull import Pulled, home_of
from mngr.actions.targets import resolve_one
from mngr.model.agent import Agent
from mngr.transfer import files
from mngr.transfer.push import push_commits
from mngr.transfer.view import checkout_of


def push(agent: Agent | str, *, ref: str = "HEAD", manager: Manager | None = None) -> Pulled:
    """Moves the agent's checked-out branch forward to a commit of the source; refused if its work would be lost."""
    manager = default_manager(manager)
    row = resolve_one(manager, agent)
    home = home_of(row, manager)
    sent = structs.replace(row.spec, source=home.source.top, base_commit=ref)
    manager.check_policy("push", sent, row.host.provider, row.host.name)
    if home.unverified:
        manager.warn(f"{home.unverified}; commits of {home.source.top} go to it")
    place = checkout_of(row.host, home.work_dir, home.transfer, home.source)
    brought = push_commits(home.source, place, ref=ref)
    changed = brought.before != brought.after
    return Pulled(row.agent, changed, brought.branch, brought.before, brought.after, notes=brought.notes)


def push_files(agent: Agent | str, paths: Sequence[str], *, manager: Manager | None = None) -> Pulled:
    """Puts files of this machine into the agent's work dir."""
    manager = default_manager(manager)
    row = resolve_one(manager, agent)
    named = [os.path.join(manager.cwd, path) for path in paths]
    manager.check_policy("files", row.spec, row.host.provider, row.host.name, named)
    notes = files.push_files(named, row.host, row.spec.work_dir)
    return Pulled(row.agent, True, files=tuple(map(os.path.basename, paths)), notes=notes)
