"""What a plugin is tested with: a suite for each protocol, and a provider that fails on demand.

pytest.register_assert_rewrite("mngr.testing")  # in conftest.py: failures show their values

Nothing is loaded before its name is used. Start reading at `hosts/`, `agents.py` and `transfers.py`.
"""

from typing import TYPE_CHECKING

from mngr_lib.lazy import lazy_names

if TYPE_CHECKING:
    from mngr.testing.agents import AgentTypeConformance as AgentTypeConformance
    from mngr.testing.agents import Outcome as Outcome
    from mngr.testing.faulty.provider import FaultyProvider as FaultyProvider
    from mngr.testing.hosts import HostConformance as HostConformance
    from mngr.testing.hosts import LifecycleConformance as LifecycleConformance
    from mngr.testing.hosts import ProviderConformance as ProviderConformance
    from mngr.testing.server import end_tmux_server as end_tmux_server
    from mngr.testing.transfers import CopyingConformance as CopyingConformance
    from mngr.testing.transfers import TransferConformance as TransferConformance
else:
    __all__, __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "mngr.testing.agents": "AgentTypeConformance Outcome",
            "mngr.testing.faulty.provider": "FaultyProvider",
            "mngr.testing.hosts": "HostConformance LifecycleConformance ProviderConformance",
            "mngr.testing.server": "end_tmux_server",
            "mngr.testing.transfers": "CopyingConformance TransferConformance",
        },
    )
