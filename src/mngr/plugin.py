"""What a plugin may import: the protocols, their records, errors, commands and helpers, under names that stay.

A change that a plugin would notice raises `API_VERSION`. Nothing is loaded before its name is used. The suites that
test a plugin are in `mngr.testing`; the verbs themselves are functions of `mngr`.
"""

from typing import TYPE_CHECKING

from mngr_lib.lazy import lazy_names

API_VERSION = 1

if TYPE_CHECKING:
    from mngr.agents.command import CommandType as CommandType
    from mngr.agents.protocol import AgentType as AgentType
    from mngr.agents.protocol import Command as Command
    from mngr.agents.protocol import Metered as Metered
    from mngr.agents.protocol import Preflighted as Preflighted
    from mngr.agents.protocol import Resumable as Resumable
    from mngr.agents.protocol import Transcribed as Transcribed
    from mngr.cli.call import Call as Call
    from mngr.cli.verb import VerbGroup as VerbGroup
    from mngr.cli.verb import verb as verb
    from mngr.errors import BlockedError as BlockedError
    from mngr.errors import CapacityError as CapacityError
    from mngr.errors import LostError as LostError
    from mngr.errors import MngrError as MngrError
    from mngr.errors import NotFoundError as NotFoundError
    from mngr.errors import RefusedError as RefusedError
    from mngr.errors import TimedOutError as TimedOutError
    from mngr.errors import UnreachableError as UnreachableError
    from mngr.errors import UsageError as UsageError
    from mngr.errors import did_you_mean as did_you_mean
    from mngr.hookspecs import hookimpl as hookimpl
    from mngr.hosts.bootstrap import bootstrap as bootstrap
    from mngr.hosts.bootstrap import missing as missing
    from mngr.hosts.container import Enterable as Enterable
    from mngr.hosts.container import InsideStream as InsideStream
    from mngr.hosts.container import run_inside as run_inside
    from mngr.hosts.files import read_by_run as read_by_run
    from mngr.hosts.files import write_by_run as write_by_run
    from mngr.hosts.framed_exec import FramedOutput as FramedOutput
    from mngr.hosts.framed_exec import collect as collect
    from mngr.hosts.framed_exec import framed_program as framed_program
    from mngr.hosts.framed_exec import new_mark as new_mark
    from mngr.hosts.framed_exec import plain_program as plain_program
    from mngr.hosts.local import LocalHost as LocalHost
    from mngr.hosts.protocol import Bounded as Bounded
    from mngr.hosts.protocol import Configurable as Configurable
    from mngr.hosts.protocol import Host as Host
    from mngr.hosts.protocol import Labelled as Labelled
    from mngr.hosts.protocol import ListsTags as ListsTags
    from mngr.hosts.protocol import Loads as Loads
    from mngr.hosts.protocol import Meets as Meets
    from mngr.hosts.protocol import Pool as Pool
    from mngr.hosts.protocol import Prepares as Prepares
    from mngr.hosts.protocol import Provider as Provider
    from mngr.hosts.protocol import RunsForOutput as RunsForOutput
    from mngr.hosts.protocol import SharesFiles as SharesFiles
    from mngr.hosts.protocol import Snapshots as Snapshots
    from mngr.hosts.protocol import Startable as Startable
    from mngr.hosts.protocol import StartsAnew as StartsAnew
    from mngr.hosts.protocol import Warns as Warns
    from mngr.hosts.settings import read_section as read_section
    from mngr.hosts.watchdog import watchdog_argv as watchdog_argv
    from mngr.hosts.watchdog import why_ended as why_ended
    from mngr.model.agent import Agent as Agent
    from mngr.model.agent import AgentSpec as AgentSpec
    from mngr.model.agent import AgentState as AgentState
    from mngr.model.agent import WaitingReason as WaitingReason
    from mngr.model.event import Event as Event
    from mngr.model.finding import Finding as Finding
    from mngr.model.finding import LaunchPlan as LaunchPlan
    from mngr.model.host import HostRef as HostRef
    from mngr.model.host import HostSpec as HostSpec
    from mngr.model.host import HostState as HostState
    from mngr.model.ids import check_name as check_name
    from mngr.model.ids import random_name as random_name
    from mngr.model.message import Delivery as Delivery
    from mngr.model.message import Receipt as Receipt
    from mngr.model.message import Spending as Spending
    from mngr.model.message import Turn as Turn
    from mngr.model.message import Usage as Usage
    from mngr.process import CommandFailedError as CommandFailedError
    from mngr.process import Completed as Completed
    from mngr.process import LocalStream as LocalStream
    from mngr.process import OnlyEnv as OnlyEnv
    from mngr.process import Stream as Stream
    from mngr.process import run as run
    from mngr.process import stream as stream
    from mngr.process import wait_until as wait_until
    from mngr.store.fold import Folded as Folded
    from mngr.store.lock import locked as locked
    from mngr.store.paths import HostPaths as HostPaths
    from mngr.store.probe import Evidence as Evidence
    from mngr.store.state import Phase as Phase
    from mngr.tmux.pane import AgentPane as AgentPane
    from mngr.transfer.protocol import Brought as Brought
    from mngr.transfer.protocol import SendsWithMore as SendsWithMore
    from mngr.transfer.protocol import Sent as Sent
    from mngr.transfer.protocol import Transfer as Transfer
    from mngr.transfer.protocol import WorkSource as WorkSource
else:
    __all__, __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "mngr.errors": "BlockedError CapacityError LostError MngrError NotFoundError RefusedError TimedOutError "
            "UnreachableError UsageError did_you_mean",
            "mngr.hosts.protocol": "Bounded Configurable Host Labelled ListsTags Loads Meets Pool Prepares Provider "
            "RunsForOutput SharesFiles Snapshots Startable StartsAnew Warns",
            "mngr.hosts.local": "LocalHost",
            "mngr.hosts.files": "read_by_run write_by_run",
            "mngr.hosts.bootstrap": "bootstrap missing",
            "mngr.hosts.container": "Enterable InsideStream run_inside",
            "mngr.hosts.framed_exec": "FramedOutput collect framed_program new_mark plain_program",
            "mngr.hosts.settings": "read_section",
            "mngr.hosts.watchdog": "watchdog_argv why_ended",
            "mngr.agents.protocol": "AgentType Command Metered Preflighted Resumable Transcribed",
            "mngr.agents.command": "CommandType",
            "mngr.transfer.protocol": "Brought SendsWithMore Sent Transfer WorkSource",
            "mngr.model.agent": "Agent AgentSpec AgentState WaitingReason",
            "mngr.model.event": "Event",
            "mngr.model.finding": "Finding LaunchPlan",
            "mngr.model.host": "HostRef HostSpec HostState",
            "mngr.model.ids": "check_name random_name",
            "mngr.model.message": "Delivery Receipt Spending Turn Usage",
            "mngr.store.fold": "Folded",
            "mngr.store.lock": "locked",
            "mngr.store.paths": "HostPaths",
            "mngr.store.probe": "Evidence",
            "mngr.store.state": "Phase",
            "mngr.tmux.pane": "AgentPane",
            "mngr.process": "CommandFailedError Completed LocalStream OnlyEnv Stream run stream wait_until",
            "mngr.cli.call": "Call",
            "mngr.cli.verb": "VerbGroup verb",
            "mngr.hookspecs": "hookimpl",
        },
    )
