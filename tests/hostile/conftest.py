"""A world of one test's own, and a host of it that belongs to another user and forges what it likes."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hostile.remote import OtherUser, Remote, other_user
from tests.support.world import World


@pytest.fixture(scope="session")
def stranger() -> Iterator[OtherUser]:
    """A second user of this machine, one for each worker."""
    # sshd reads its keys as that user, who must not need to enter this run's own temporary folder.
    folder = Path(tempfile.mkdtemp(prefix="mngr-sshd-", dir="/tmp"))
    folder.chmod(0o711)
    try:
        with other_user(folder) as user:
            yield user
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    world = World(tmp_path)
    monkeypatch.setenv("HOME", str(world.home))
    yield world
    world.end()


@pytest.fixture
def remote(world: World, stranger: OtherUser) -> Iterator[Remote]:
    """A host of that user's with a host dir of its own; nothing of the test runs there afterwards."""
    remote = Remote(world, stranger)
    try:
        yield remote
    finally:
        remote.end()
