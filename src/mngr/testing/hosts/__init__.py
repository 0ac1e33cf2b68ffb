"""What every `Host` and `Provider` must do, as tests that a plugin author runs on theirs.

    pytest.register_assert_rewrite("mngr.testing")  # in conftest.py, for readable failures

    class TestMyHost(HostConformance):
        @pytest.fixture
        def host(self): ...  # with a host dir that may be thrown away: the suite leaves files in it

A host needs sh, git and the usual small programs, no Python. `ProviderConformance` asks for a fixture
`provider`; `LifecycleConformance` adds what providers must do that make and end hosts themselves.
"""

from mngr.testing.hosts.commands import CommandConformance
from mngr.testing.hosts.files import FileConformance
from mngr.testing.hosts.providers import LifecycleConformance, ProviderConformance
from mngr.testing.hosts.streams import StreamConformance

__all__ = ["HostConformance", "LifecycleConformance", "ProviderConformance"]


class HostConformance(CommandConformance, StreamConformance, FileConformance):
    """All that a host must do."""
