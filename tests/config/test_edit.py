"""Setting and unsetting a key in the file of a scope."""

import os
from pathlib import Path

import pytest
from tests.config.files import ConfigFiles

from mngr.config.edit import file_for, set_value, unset_value
from mngr.config.locate import ConfigDirs
from mngr.errors import RefusedError, UsageError


def test_set_value_makes_the_file_private_and_reads_back(files: ConfigFiles) -> None:
    edited = set_value(files.places, "user", "commands.create.idle-timeout", "1h")
    assert (edited.path, edited.key, edited.changed) == (
        str(files.user),
        "commands.create.idle_timeout",
        True,
    )
    assert files.user.read_text() == '[commands.create]\nidle_timeout = "1h"\n'
    assert files.user.stat().st_mode & 0o777 == 0o600
    assert files.load().get("commands.create.idle_timeout") == "1h"
    assert not set_value(files.places, "user", "commands.create.idle-timeout", "1h").changed
    assert unset_value(files.places, "user", "commands.create.idle_timeout").changed
    assert not unset_value(files.places, "user", "commands.create.idle_timeout").changed
    assert os.listdir(files.places.host_dir) == ["config.toml"]


def test_a_file_keeps_its_mode_and_a_link_stays_a_link(files: ConfigFiles, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("prefix = 'a-'\n")
    real.chmod(0o640)
    files.user.symlink_to(real)
    set_value(files.places, "user", "prefix", "b-")
    assert files.user.is_symlink()
    assert real.read_text() == 'prefix = "b-"\n'
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.mark.accept("K18")
def test_a_repositorys_link_out_of_itself_is_not_written_through(files: ConfigFiles, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text("")
    files.local.symlink_to(mine)
    with pytest.raises(RefusedError, match="link"):
        set_value(files.places, "local", "prefix", "b-")
    files.local.unlink()
    os.rmdir(files.project.parent)
    files.project.parent.symlink_to(files.places.host_dir)
    with pytest.raises(RefusedError, match="link"):
        set_value(files.places, "project", "prefix", "b-")
    assert mine.read_text() == ""
    assert os.listdir(files.places.host_dir) == []


def test_a_new_local_file_is_hidden_from_git_and_the_project_file_is_not(files: ConfigFiles) -> None:
    set_value(files.places, "project", "prefix", "p-")
    assert sorted(os.listdir(files.project.parent)) == ["settings.toml"]
    set_value(files.places, "local", "prefix", "l-")
    assert (files.project.parent / ".gitignore").read_text() == "/.gitignore\n/settings.local.toml\n"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("prefx", "a"),
        ("prefix", "a b"),
        ("prefix", "-x"),
        ("prefix", "_x"),
        ("agent_types.a.args", "x"),
        ("a..b", "1"),
    ],
)
def test_what_would_be_an_error_when_read_is_not_written(files: ConfigFiles, key: str, value: str) -> None:
    with pytest.raises(UsageError):
        set_value(files.places, "user", key, value)
    assert not files.user.exists()


def test_an_unknown_key_in_the_file_can_be_unset(files: ConfigFiles) -> None:
    files.user.write_text("prefx = 'a'\nprefix = 'b-'\n")
    unset_value(files.places, "user", "prefx")
    assert files.user.read_text() == "prefix = 'b-'\n"


def test_text_that_is_not_unicode_is_refused(files: ConfigFiles) -> None:
    with pytest.raises(UsageError, match="UTF-8"):
        set_value(files.places, "user", "notify.command", "\udcff")


def test_scopes_are_named_and_need_a_repository(files: ConfigFiles) -> None:
    with pytest.raises(UsageError, match="no repository"):
        file_for(ConfigDirs("/nowhere"), "local")
    with pytest.raises(UsageError) as caught:
        file_for(files.places, "projct")
    assert caught.value.hint == 'did you mean "project"?'
