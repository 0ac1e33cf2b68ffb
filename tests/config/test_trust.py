"""A stranger's repository runs nothing: what its config may set before and after `mngr config trust`."""

import os
import subprocess
import threading
from pathlib import Path

import pytest
from tests.config.desk import Desk

from mngr.config.edit import set_value, unset_value
from mngr.config.layers import load_config
from mngr.config.trust import is_harmless, is_trusted, trust
from mngr.errors import UsageError

HOSTILE = """\
prefix = "ok-"
[commands.create]
branch = ":x/*"
connect-command = "evil"
setup = "evil"
[commands.destroy]
yes = true
[templates.t]
label = ["a=b"]
env = { LD_PRELOAD = "/evil.so" }
pass_env = ["SECRET"]
[agent_types.claude]
command = "evil"
[providers.ssh]
proxy = "evil"
[notify]
command = "evil"
[tmr]
lint = "evil"
"""
HELD = [
    "agent_types.claude.command",
    "commands.create.connect_command",
    "commands.create.setup",
    "commands.destroy.yes",
    "notify.command",
    "providers.ssh.proxy",
    "templates.t.env.LD_PRELOAD",
    "templates.t.pass_env",
    "tmr.lint",
]


@pytest.mark.accept("K18")
@pytest.mark.parametrize("name", ["project", "local"])
def test_before_trust_only_harmless_keys_take_effect(desk: Desk, name: str) -> None:
    file: Path = getattr(desk, name)
    file.write_text(HOSTILE)
    config = desk.load()
    assert [key for key, _, source in config.items() if source == str(file)] == [
        "commands.create.branch",
        "prefix",
        "templates.t.label",
    ]
    assert config.section("agent_types") == {}
    (note,) = config.ignored
    assert str(file) in note
    assert ", ".join(HELD) in note
    assert "mngr config trust" in note


@pytest.mark.accept("K18")
def test_an_untrusted_key_lets_the_users_own_value_stand(desk: Desk) -> None:
    desk.user.write_text('commands.create.setup = "mine"\n')
    desk.project.write_text('commands.create.setup = "evil"\n')
    assert desk.load().get("commands.create.setup") == "mine"


@pytest.mark.accept("K18")
def test_trust_lasts_as_long_as_the_content(desk: Desk) -> None:
    first = 'commands.create.setup = "make"\n'
    desk.project.write_text(first)
    result = trust(desk.places.repo_root, desk.places.host_dir)
    assert [(file.path, file.keys) for file in result.files] == [
        (str(desk.project), ("commands.create.setup",))
    ]
    assert result.changed
    assert desk.load().get("commands.create.setup") == "make"
    assert not trust(desk.places.repo_root, desk.places.host_dir).changed

    desk.project.write_text(first + "# one more byte\n")
    assert desk.load().get("commands.create.setup") is None
    assert desk.load().ignored
    desk.project.write_text(first)
    assert desk.load().get("commands.create.setup") == "make"


@pytest.mark.accept("K18")
def test_the_same_bytes_elsewhere_are_not_trusted(desk: Desk, tmp_path: Path) -> None:
    desk.project.write_text("notify.command = './notify'")
    trust(desk.places.repo_root, desk.places.host_dir)
    os.makedirs(tmp_path / "other/.git")
    os.makedirs(tmp_path / "other/.mngr")
    (tmp_path / "other/.mngr/settings.toml").write_bytes(desk.project.read_bytes())
    assert load_config(str(tmp_path / "other"), desk.env).get("notify.command") is None
    os.symlink(desk.places.repo_root, tmp_path / "link")
    assert load_config(str(tmp_path / "link"), desk.env).get("notify.command") == "./notify"


@pytest.mark.accept("K18")
def test_linked_worktrees_share_trust_and_impostors_do_not(desk: Desk, tmp_path: Path) -> None:
    root = tmp_path / "real"
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    os.mkdir(root / ".mngr")
    (root / ".mngr/settings.toml").write_text("notify.command = './notify'")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "linked")], check=True)
    assert load_config(str(tmp_path / "linked"), desk.env).get("notify.command") is None
    trust(str(root), desk.places.host_dir)
    assert load_config(str(tmp_path / "linked"), desk.env).get("notify.command") == "./notify"

    fake = tmp_path / "fake"
    os.makedirs(fake / ".mngr")
    (fake / ".mngr/settings.toml").write_bytes((root / ".mngr/settings.toml").read_bytes())
    (fake / ".git").write_bytes((tmp_path / "linked/.git").read_bytes())
    assert load_config(str(fake), desk.env).get("notify.command") is None


@pytest.mark.accept("K18")
def test_what_the_user_sets_is_trusted_as_it_is_written(desk: Desk) -> None:
    for scope in ("local", "project"):
        assert set_value(desk.places, scope, "commands.create.setup", scope).trusted
        assert desk.load().explain("commands.create.setup")[-1].standing != "untrusted"
    assert desk.load().get("commands.create.setup") == "local"
    assert unset_value(desk.places, "local", "commands.create.setup").trusted
    assert desk.load().get("commands.create.setup") == "project"


@pytest.mark.accept("K18")
def test_a_set_in_a_strangers_file_blesses_nothing(desk: Desk) -> None:
    desk.local.write_text('notify.command = "evil"\n')
    edited = set_value(desk.places, "local", "commands.create.branch", "b")
    assert edited.changed
    assert not edited.trusted
    config = desk.load()
    assert config.get("notify.command") is None
    assert config.get("commands.create.branch") == "b"


@pytest.mark.accept("K18")
def test_a_set_in_a_harmless_file_is_the_users_own_deed(desk: Desk) -> None:
    desk.project.write_text("prefix = 'p-'\n")
    assert set_value(desk.places, "project", "notify.command", "beep").trusted
    assert desk.load().get("notify.command") == "beep"


@pytest.mark.accept("K18")
@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"x": 3}', b"\xff\xff"])
def test_a_torn_trust_file_trusts_nothing_and_can_be_written_anew(desk: Desk, damage: bytes) -> None:
    desk.project.write_text("notify.command = 'x'")
    trust(desk.places.repo_root, desk.places.host_dir)
    Path(desk.places.host_dir, "trust.json").write_bytes(damage)
    assert desk.load().get("notify.command") is None
    trust(desk.places.repo_root, desk.places.host_dir)
    assert desk.load().get("notify.command") == "x"


def test_the_trust_file_is_private_and_leaves_no_litter(desk: Desk) -> None:
    desk.project.write_text("notify.command = 'x'")
    trust(desk.places.repo_root, desk.places.host_dir)
    assert os.listdir(desk.places.host_dir) == ["trust.json"]
    assert os.stat(os.path.join(desk.places.host_dir, "trust.json")).st_mode & 0o777 == 0o600


def test_many_repositories_trusted_at_once_are_all_remembered(desk: Desk, tmp_path: Path) -> None:
    roots = [tmp_path / f"r{number}" for number in range(8)]
    for root in roots:
        os.makedirs(root / ".mngr")
        (root / ".mngr/settings.toml").write_text("notify.command = 'x'")
    threads = [threading.Thread(target=trust, args=(str(root), desk.places.host_dir)) for root in roots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    paths = [str(root / ".mngr/settings.toml") for root in roots]
    assert all(is_trusted(path, b"notify.command = 'x'", desk.places.host_dir) for path in paths)


def test_without_a_repository_there_is_nothing_to_trust(desk: Desk) -> None:
    with pytest.raises(UsageError, match="no repository"):
        trust("", desk.places.host_dir)
    assert trust(desk.places.repo_root, desk.places.host_dir).files == ()


DANGEROUS = """
    commands.connect.connect_command commands.create.connect_command commands.create.setup
    commands.create.type commands.create.provider commands.create.env commands.create.env_file
    commands.create.pass_env
    commands.create.upload commands.create.windows commands.create.message commands.create.message_file
    commands.create.from commands.create.image commands.create.offline commands.create.template
    commands.create.brand_new commands.create commands.destroy.force commands.stop.all commands
    templates.t.setup templates.t.type templates.t.connect_command templates.t.windows templates.t
    agent_types.x.command agent_types.x.parent notify.command providers.local.x
    tmr.setup tmr.lint tmr.suite tmr.type tmr.env tmr.prompt tmr weather.x
"""


@pytest.mark.accept("K18")
@pytest.mark.parametrize("key", DANGEROUS.split())
def test_whatever_can_run_leak_or_destroy_needs_trust(key: str) -> None:
    assert not is_harmless(tuple(key.split(".")))
