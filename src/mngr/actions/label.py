"""`label`: puts labels on an agent and takes them off."""

import time
from collections.abc import Mapping, Sequence

from mngr.actions.claim import not_written
from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import look_at
from mngr.actions.targets import resolve_one
from mngr.model import event as kinds
from mngr.model.agent import Agent, Change
from mngr.model.event import Event
from mngr.model.labels import check_label_key, check_labels
from mngr.sh.lines import append, ring
from mngr.sh.program import READ_AND_RUN, encode
from mngr.store.paths import HostPaths


def label(
    agent: Agent | str, set: Mapping[str, str], remove: Sequence[str] = (), *, manager: Manager | None = None
) -> Change:
    """Sets and removes labels; removing one that is not there is fine."""
    manager = default_manager(manager)
    row = resolve_one(manager, agent)
    labels = {**row.spec.labels, **{check_label_key(key): value for key, value in set.items()}}
    labels = {key: value for key, value in labels.items() if key not in remove}
    if labels == row.agent.labels:
        return Change(row.agent, changed=False)
    paths = HostPaths(row.host.dir)
    entry = Event(time.time(), kinds.LABELLED, {"labels": check_labels(labels)})
    script = append(paths.agent(row.agent.id).events, entry) + " || exit 1\n" + ring(paths.bell)
    done = row.host.run(READ_AND_RUN, stdin=encode(script))
    if done.code:
        raise not_written(row.host, f'"{row.agent.name}" keeps its labels', done.complaint)
    return Change(look_at(row.host, manager, agent_glob=row.agent.id)[0].agent, changed=True)
