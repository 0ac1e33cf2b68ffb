"""The four transfers pass the shipped suite, here and on a machine that shares no files with us."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from mngr_box.host import BoxHost
from mngr_box.provider import BoxProvider
from tests.support.needs import needs

from mngr.model.host import HostSpec
from mngr.testing.transfers import CopyingConformance, TransferConformance
from mngr.transfer.copy import CopyTransfer
from mngr.transfer.mirror import MirrorTransfer
from mngr.transfer.no_transfer import NoneTransfer
from mngr.transfer.worktree import WorktreeTransfer


@pytest.fixture
def box(tmp_path: Path) -> Iterator[BoxHost]:
    user = () if os.geteuid() == 0 else ("-U", "--map-root-user")
    needs("mount and process namespaces", "unshare", *user, "-m", "-p", "-f", "--mount-proc", "true")
    provider = BoxProvider(str(tmp_path / "box dir"))
    yield provider.create(HostSpec(name="box"))
    for ref in provider.hosts():
        provider.destroy(ref.name)


@pytest.mark.accept("K10", "L3")
class TestWorktree(CopyingConformance):
    @pytest.fixture
    def transfer(self) -> WorktreeTransfer:
        return WorktreeTransfer()


@pytest.mark.accept("K10", "L4")
class TestMirror(CopyingConformance):
    @pytest.fixture
    def transfer(self) -> MirrorTransfer:
        return MirrorTransfer()


@pytest.mark.accept("K10", "L4", "L7")
class TestMirrorElsewhere(TestMirror):
    @pytest.fixture
    def host(self, box: BoxHost) -> BoxHost:
        return box


@pytest.mark.accept("K10")
class TestCopy(CopyingConformance):
    @pytest.fixture
    def transfer(self) -> CopyTransfer:
        return CopyTransfer()


@pytest.mark.accept("K10", "L7")
class TestCopyElsewhere(TestCopy):
    @pytest.fixture
    def host(self, box: BoxHost) -> BoxHost:
        return box


@pytest.mark.accept("K10")
class TestNone(TransferConformance):
    @pytest.fixture
    def transfer(self) -> NoneTransfer:
        return NoneTransfer()


@pytest.mark.accept("K10", "L7")
class TestNoneElsewhere(TestNone):
    @pytest.fixture
    def host(self, box: BoxHost) -> BoxHost:
        return box
