"""A host with its own directory, a home of our own, readable failures of the shipped suite."""

from pathlib import Path

import pytest

from mngr.hosts.local import LocalHost


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def host(tmp_path: Path) -> LocalHost:
    directory = tmp_path / "host"
    directory.mkdir()
    return LocalHost(str(directory))
