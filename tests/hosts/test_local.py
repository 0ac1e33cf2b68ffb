"""This machine passes the suite that every host passes."""

from pathlib import Path

import pytest

from mngr.errors import UsageError
from mngr.hosts.local import LocalHost, LocalProvider
from mngr.hosts.protocol import shares_files
from mngr.model.host import HostSpec
from mngr.testing.hosts import HostConformance, ProviderConformance


@pytest.mark.accept("K13")
class TestLocalHost(HostConformance):
    @pytest.fixture
    def host(self, tmp_path: Path) -> LocalHost:
        return LocalHost(str(tmp_path / "host dir"))

    def test_it_shares_files_with_us(self, host: LocalHost) -> None:
        assert shares_files(host)


@pytest.mark.accept("K13")
class TestLocalProvider(ProviderConformance):
    @pytest.fixture
    def provider(self, tmp_path: Path) -> LocalProvider:
        return LocalProvider(str(tmp_path))

    def test_it_has_one_host_and_makes_no_other(self, provider: LocalProvider) -> None:
        assert [ref.name for ref in provider.hosts()] == ["local"]
        assert provider.create(HostSpec()).name == provider.open("localhost").name == "local"
        with pytest.raises(UsageError, match='cannot make "other"'):
            provider.create(HostSpec(name="other"))

    def test_it_neither_stops_nor_destroys_this_machine(self, provider: LocalProvider) -> None:
        for end in (provider.stop, provider.destroy):
            with pytest.raises(UsageError, match="not mngr's"):
                end("local")
