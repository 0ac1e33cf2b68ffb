"""Reading where others have written."""

import os
from pathlib import Path

import pytest

from mngr_e2e.view.files import entries, natural, read, try_read
from mngr_lib.safe_text import one_line


@pytest.mark.accept("V4", "Q5")
def test_no_link_is_followed_at_any_level(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "file").write_text("canary")
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (root / "a" / "link").symlink_to(secret / "file")
    (root / "folder").symlink_to(secret)
    (root / "a" / "up").symlink_to("../../secret")
    for names in (("a", "link"), ("folder", "file"), ("a", "up", "file")):
        with pytest.raises(OSError):
            read(str(root), *names, limit=100)
    with pytest.raises(OSError):
        entries(str(root), "folder")
    assert {entry.name: entry.kind for entry in entries(str(root))} == {"a": "folder", "folder": "link"}


@pytest.mark.accept("V4", "Q5")
@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "/etc/passwd", "a\0b"])
def test_a_name_is_never_a_path(tmp_path: Path, name: str) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "passwd").touch()
    with pytest.raises(OSError):
        read(str(tmp_path / "root"), name, limit=100)
    with pytest.raises(OSError):
        read(str(tmp_path / "root"), name, "passwd", limit=100)


@pytest.mark.accept("Q5")
def test_a_pipe_or_a_folder_is_not_opened_as_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    assert try_read(str(tmp_path), "pipe", limit=100) is None
    assert try_read(str(tmp_path), "folder", limit=100) is None
    assert try_read(str(tmp_path), "missing", limit=100) is None


@pytest.mark.accept("Q5")
def test_no_more_is_read_than_asked_for(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.write(b"begin")
        file.truncate(1 << 40)
    found = read(str(tmp_path), "huge", limit=5)
    assert (found.data, found.size, found.is_truncated) == (b"begin", 1 << 40, True)


def test_names_are_ordered_as_people_count() -> None:
    assert sorted(["10-a", "2-b", "b", "1-z", "a"], key=natural) == ["a", "b", "1-z", "2-b", "10-a"]


def test_a_name_is_shown_on_one_line() -> None:
    assert one_line("a\nb\x1b[31m\udcff é") == "a\\nb\\x1b[31m\\udcff é"
