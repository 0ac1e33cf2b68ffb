"""Reading and writing over nothing but `run`."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from mngr.hosts.files import read_by_run, write_by_run
from mngr.hosts.local import LocalHost
from mngr.process import CommandFailedError, Completed


class CutHost:
    """A host whose line breaks before the last byte of stdin, as a lost connection does."""

    def __init__(self, host: LocalHost) -> None:
        self._host = host

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 60) -> Completed:
        return self._host.run(argv, stdin=stdin[:-1], timeout_s=timeout_s)


@pytest.fixture
def host(tmp_path: Path) -> LocalHost:
    return LocalHost(str(tmp_path))


def test_a_write_that_was_cut_short_leaves_the_old_file_and_nothing_else(
    host: LocalHost, tmp_path: Path
) -> None:
    path = str(tmp_path / "file")
    write_by_run(host, path, b"old", 0o600)
    with pytest.raises(CommandFailedError, match="cannot write"):
        write_by_run(CutHost(host), path, b"new and longer", 0o600)
    assert read_by_run(host, path) == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_writing_where_a_directory_is_says_so(host: LocalHost) -> None:
    with pytest.raises(CommandFailedError, match="/proc: is a directory"):
        write_by_run(host, "/proc", b"", 0o600)
