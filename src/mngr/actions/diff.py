"""`diff`: what an agent has changed since it was created, commits and uncommitted work together."""

import os
from collections.abc import Sequence

from msgspec import Struct

from mngr.actions.creation_record import verified_spec
from mngr.actions.destroy import source_of
from mngr.actions.manager import Manager, default_manager
from mngr.actions.targets import Target, resolve_one
from mngr.errors import MngrError, UsageError
from mngr.model.agent import Agent
from mngr.sh.program import words
from mngr.transfer.fetch import checked_view
from mngr.transfer.git import run_script
from mngr.transfer.source import is_commit_id
from mngr.transfer.view import checkout_of, commit_values, view_script

_TIMEOUT_S = 600.0
FORMS = {"": "", "stat": "--stat=120", "names": "--name-only"}


class AgentDiff(Struct, frozen=True):
    """The changes of an agent since `base` as git shows them; empty text: there are none.

    Bytes of the text that are no UTF-8 are surrogates, as Python has them in file names.
    """

    agent: Agent
    base: str
    text: str
    truncated: bool = False
    """Whether there is more of it than the text."""


def diff(
    agent: Target,
    *,
    form: str = "",
    paths: Sequence[str] = (),
    most_bytes: int = 64 << 20,
    manager: Manager | None = None,
) -> AgentDiff:
    """What the agent's work dir has that the commit it started from has not, new files included.

    `form` is "" for the changes themselves, "stat" or "names". The agent's repository is read as data: no filter, hook,
    external diff or text conversion that it configures is run.
    """
    if form not in FORMS:
        raise UsageError(f'no form of a diff "{form}"', hint='"", "stat" or "names"')
    manager = default_manager(manager)
    row = resolve_one(manager, agent)
    spec = verified_spec(row, manager) or row.spec
    if spec.base_commit and not is_commit_id(spec.base_commit):
        raise MngrError(f'"{spec.name}" names no commit that it started from')
    place = checkout_of(row.host, spec.work_dir, spec.transfer, source_of(spec))
    values = {"base": spec.base_commit, "form": FORMS[form], "paths": words(*paths), "limit": str(most_bytes)}
    script = view_script(place, "sh/diff", **values, **commit_values())
    done = checked_view(run_script(row.host, script, timeout_s=_TIMEOUT_S), place)
    text = os.fsdecode(done.stdout)
    return AgentDiff(row.agent, spec.base_commit, text, truncated=len(done.stdout) >= most_bytes)
