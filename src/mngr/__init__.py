"""mngr: primitives to run any coding agent anywhere.

Every verb of the command line is a function here, with the same records: `mngr.create("foo", args=("sleep", "60"))`.
Names are loaded on first use, so that importing this package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mngr.actions.bell import Bell as Bell
    from mngr.actions.capture import capture as capture
    from mngr.actions.capture import cast as cast
    from mngr.actions.cleanup import choose_agents as choose_agents
    from mngr.actions.connect import ConnectPlan as ConnectPlan
    from mngr.actions.connect import plan_connect as plan_connect
    from mngr.actions.create.batch import create_many as create_many
    from mngr.actions.create.clone import clone as clone
    from mngr.actions.create.create import create as create
    from mngr.actions.create.request import CreateSpec as CreateSpec
    from mngr.actions.create.steps import AgentDiedError as AgentDiedError
    from mngr.actions.destroy import destroy as destroy
    from mngr.actions.diff import AgentDiff as AgentDiff
    from mngr.actions.diff import diff as diff
    from mngr.actions.doctor import examine as examine
    from mngr.actions.events import events as events
    from mngr.actions.events import follow as follow
    from mngr.actions.exec import exec_in as exec_in
    from mngr.actions.filter import Filter as Filter
    from mngr.actions.gc.gc import find_garbage as find_garbage
    from mngr.actions.gc.gc import remove_garbage as remove_garbage
    from mngr.actions.hosts import destroy_host as destroy_host
    from mngr.actions.hosts import start_host as start_host
    from mngr.actions.hosts import stop_host as stop_host
    from mngr.actions.label import label as label
    from mngr.actions.list import Listing as Listing
    from mngr.actions.list import list_agents as list_agents
    from mngr.actions.manager import Manager as Manager
    from mngr.actions.message import Messaged as Messaged
    from mngr.actions.message import message as message
    from mngr.actions.migrate import migrate as migrate
    from mngr.actions.owner import owner_labels as owner_labels
    from mngr.actions.preflight import preflight as preflight
    from mngr.actions.prices import model_prices as model_prices
    from mngr.actions.pull import Pulled as Pulled
    from mngr.actions.pull import pull as pull
    from mngr.actions.pull import pull_files as pull_files
    from mngr.actions.pull import pull_outbox as pull_outbox
    from mngr.actions.push import push as push
    from mngr.actions.push import push_files as push_files
    from mngr.actions.rename import rename as rename
    from mngr.actions.rows import Row as Row
    from mngr.actions.snapshots.snapshot import Snapshot as Snapshot
    from mngr.actions.snapshots.snapshot import create_snapshot as create_snapshot
    from mngr.actions.snapshots.snapshot import destroy_snapshot as destroy_snapshot
    from mngr.actions.snapshots.snapshot import list_snapshots as list_snapshots
    from mngr.actions.snapshots.snapshot import restore_snapshot as restore_snapshot
    from mngr.actions.start import start as start
    from mngr.actions.stop import stop as stop
    from mngr.actions.targets import find as find
    from mngr.actions.transcript import transcript as transcript
    from mngr.actions.usage import UsageReport as UsageReport
    from mngr.actions.usage import usage as usage
    from mngr.actions.wait import Waited as Waited
    from mngr.actions.wait import wait as wait
    from mngr.agents.prices import Price as Price
    from mngr.errors import BlockedError as BlockedError
    from mngr.errors import CapacityError as CapacityError
    from mngr.errors import MngrError as MngrError
    from mngr.errors import NotFoundError as NotFoundError
    from mngr.errors import RefusedError as RefusedError
    from mngr.errors import TimedOutError as TimedOutError
    from mngr.errors import UnreachableError as UnreachableError
    from mngr.errors import UsageError as UsageError
    from mngr.hookspecs import hookimpl as hookimpl
    from mngr.model.agent import Agent as Agent
    from mngr.model.agent import AgentState as AgentState
    from mngr.model.agent import Change as Change
    from mngr.model.agent import ModelError as ModelError
    from mngr.model.duration import parse_duration as parse_duration
    from mngr.model.event import Event as Event
    from mngr.model.finding import Finding as Finding
    from mngr.model.message import Receipt as Receipt
    from mngr.model.message import Turn as Turn
    from mngr.process import CommandFailedError as CommandFailedError
    from mngr.process import Completed as Completed
    from mngr.process import descriptor_limit as descriptor_limit
    from mngr.process import run_program as run_program

_HOMES = {
    "actions.bell": "Bell",
    "actions.capture": "capture cast",
    "actions.cleanup": "choose_agents",
    "actions.create.clone": "clone",
    "actions.connect": "ConnectPlan plan_connect",
    "actions.create.create": "create",
    "actions.create.batch": "create_many",
    "actions.create.request": "CreateSpec",
    "actions.create.steps": "AgentDiedError",
    "actions.destroy": "destroy",
    "actions.diff": "AgentDiff diff",
    "actions.doctor": "examine",
    "actions.events": "events follow",
    "actions.exec": "exec_in",
    "actions.filter": "Filter",
    "actions.gc.gc": "find_garbage remove_garbage",
    "actions.hosts": "destroy_host start_host stop_host",
    "actions.label": "label",
    "actions.list": "Listing list_agents",
    "actions.manager": "Manager",
    "actions.message": "Messaged message",
    "actions.migrate": "migrate",
    "actions.owner": "owner_labels",
    "actions.preflight": "preflight",
    "actions.prices": "model_prices",
    "actions.pull": "Pulled pull pull_files pull_outbox",
    "actions.push": "push push_files",
    "actions.rename": "rename",
    "actions.rows": "Row",
    "actions.snapshots.snapshot": "Snapshot create_snapshot destroy_snapshot list_snapshots restore_snapshot",
    "actions.start": "start",
    "actions.stop": "stop",
    "actions.targets": "find",
    "actions.transcript": "transcript",
    "actions.usage": "UsageReport usage",
    "actions.wait": "Waited wait",
    "agents.prices": "Price",
    "errors": "BlockedError CapacityError MngrError NotFoundError RefusedError TimedOutError UnreachableError "
    "UsageError",
    "hookspecs": "hookimpl",
    "model.agent": "Agent AgentState Change ModelError",
    "model.duration": "parse_duration",
    "model.event": "Event",
    "model.finding": "Finding",
    "model.message": "Receipt Turn",
    "process": "CommandFailedError Completed descriptor_limit run_program",
}
_HOME = {name: f"mngr.{module}" for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'mngr' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
