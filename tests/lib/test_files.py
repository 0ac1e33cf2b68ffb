"""A file is replaced as a whole, and only a regular file is read."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from mngr_lib.files import NotRegularError, TooLargeError, read_regular, replace_file


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Path]:
    """A file with old bytes, in a folder in which nothing may be left beside it."""
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    yield path
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_is_replaced_and_its_mode_is_the_one_asked_for(target: Path) -> None:
    before = os.umask(0o077)
    try:
        replace_file(str(target), b"new", 0o755)
        assert (target.read_text(), mode_of(target)) == ("new", 0o700)
        replace_file(str(target), (b"ne", b"wer"), 0o755, ignores_umask=True)
        assert (target.read_text(), mode_of(target)) == ("newer", 0o755)
        replace_file(str(target), b"newest", keeps_mode=True)
        assert (target.read_text(), mode_of(target)) == ("newest", 0o755)
    finally:
        os.umask(before)


def test_an_error_on_the_way_leaves_the_old_file(target: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        replace_file(str(target), pieces())
    assert (target.read_text(), mode_of(target)) == ("old", 0o640)


def test_a_name_as_long_as_a_name_can_be_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / ("ü" * 127)
    replace_file(str(path), b"new")
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ["new"]


def test_only_regular_files_are_read_and_no_more_than_asked_for(tmp_path: Path, target: Path) -> None:
    assert read_regular(str(target)) == read_regular(str(target), 3) == b"old"
    with pytest.raises(TooLargeError):
        read_regular(str(target), 2)
    with pytest.raises(NotRegularError):
        read_regular(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotRegularError):
        read_regular(str(tmp_path / "pipe"))
    os.unlink(tmp_path / "pipe")
