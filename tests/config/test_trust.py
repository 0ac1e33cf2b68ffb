"""A stranger's repository runs nothing: what its config may set before and after `mngr config trust`."""

import os
import subprocess
import threading
from pathlib import Path

import pytest
from tests.config.files import ConfigFiles

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
def test_before_trust_only_harmless_keys_take_effect(files: ConfigFiles, name: str) -> None:
    file: Path = getattr(files, name)
    file.write_text(HOSTILE)
    config = files.load()
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
def test_an_untrusted_key_lets_the_users_own_value_stand(files: ConfigFiles) -> None:
    files.user.write_text('commands.create.setup = "mine"\n')
    files.project.write_text('commands.create.setup = "evil"\n')
    assert files.load().get("commands.create.setup") == "mine"


@pytest.mark.accept("K18")
def test_trust_lasts_as_long_as_the_content(files: ConfigFiles) -> None:
    first = 'commands.create.setup = "make"\n'
    files.project.write_text(first)
    result = trust(files.places.repo_root, files.places.host_dir)
    assert [(file.path, file.keys) for file in result.files] == [
        (str(files.project), ("commands.create.setup",))
    ]
    assert result.changed
    assert files.load().get("commands.create.setup") == "make"
    assert not trust(files.places.repo_root, files.places.host_dir).changed

    files.project.write_text(first + "# one more byte\n")
    assert files.load().get("commands.create.setup") is None
    assert files.load().ignored
    files.project.write_text(first)
    assert files.load().get("commands.create.setup") == "make"


@pytest.mark.accept("K18")
def test_the_same_bytes_elsewhere_are_not_trusted(files: ConfigFiles, tmp_path: Path) -> None:
    files.project.write_text("notify.command = './notify'")
    trust(files.places.repo_root, files.places.host_dir)
    os.makedirs(tmp_path / "other/.git")
    os.makedirs(tmp_path / "other/.mngr")
    (tmp_path / "other/.mngr/settings.toml").write_bytes(files.project.read_bytes())
    assert load_config(str(tmp_path / "other"), files.env).get("notify.command") is None
    os.symlink(files.places.repo_root, tmp_path / "link")
    assert load_config(str(tmp_path / "link"), files.env).get("notify.command") == "./notify"


@pytest.mark.accept("K18")
def test_linked_worktrees_share_trust_and_impostors_do_not(files: ConfigFiles, tmp_path: Path) -> None:
    root = tmp_path / "real"
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    os.mkdir(root / ".mngr")
    (root / ".mngr/settings.toml").write_text("notify.command = './notify'")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "linked")], check=True)
    assert load_config(str(tmp_path / "linked"), files.env).get("notify.command") is None
    trust(str(root), files.places.host_dir)
    assert load_config(str(tmp_path / "linked"), files.env).get("notify.command") == "./notify"

    fake = tmp_path / "fake"
    os.makedirs(fake / ".mngr")
    (fake / ".mngr/settings.toml").write_bytes((root / ".mngr/settings.toml").read_bytes())
    (fake / ".git").write_bytes((tmp_path / "linked/.git").read_bytes())
    assert load_config(str(fake), files.env).get("notify.command") is None


@pytest.mark.accept("K18")
def test_what_the_user_sets_is_trusted_as_it_is_written(files: ConfigFiles) -> None:
    for scope in ("local", "project"):
        assert set_value(files.places, scope, "commands.create.setup", scope).trusted
        assert files.load().explain("commands.create.setup")[-1].standing != "untrusted"
    assert files.load().get("commands.create.setup") == "local"
    assert unset_value(files.places, "local", "commands.create.setup").trusted
    assert files.load().get("commands.create.setup") == "project"


@pytest.mark.accept("K18")
def test_a_set_in_a_strangers_file_blesses_nothing(files: ConfigFiles) -> None:
    files.local.write_text('notify.command = "evil"\n')
    edited = set_value(files.places, "local", "commands.create.branch", "b")
    assert edited.changed
    assert not edited.trusted
    config = files.load()
    assert config.get("notify.command") is None
    assert config.get("commands.create.branch") == "b"


@pytest.mark.accept("K18")
def test_a_set_in_a_harmless_file_is_the_users_own_deed(files: ConfigFiles) -> None:
    files.project.write_text("prefix = 'p-'\n")
    assert set_value(files.places, "project", "notify.command", "beep").trusted
    assert files.load().get("notify.command") == "beep"


@pytest.mark.accept("K18")
@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"x": 3}', b"\xff\xff"])
def test_a_torn_trust_file_trusts_nothing_and_can_be_written_anew(files: ConfigFiles, damage: bytes) -> None:
    files.project.write_text("notify.command = 'x'")
    trust(files.places.repo_root, files.places.host_dir)
    Path(files.places.host_dir, "trust.json").write_bytes(damage)
    assert files.load().get("notify.command") is None
    trust(files.places.repo_root, files.places.host_dir)
    assert files.load().get("notify.command") == "x"


def test_the_trust_file_is_private_and_leaves_no_litter(files: ConfigFiles) -> None:
    files.project.write_text("notify.command = 'x'")
    trust(files.places.repo_root, files.places.host_dir)
    assert os.listdir(files.places.host_dir) == ["trust.json"]
    assert os.stat(os.path.join(files.places.host_dir, "trust.json")).st_mode & 0o777 == 0o600


def test_many_repositories_trusted_at_once_are_all_remembered(files: ConfigFiles, tmp_path: Path) -> None:
    roots = [tmp_path / f"r{number}" for number in range(8)]
    for root in roots:
        os.makedirs(root / ".mngr")
        (root / ".mngr/settings.toml").write_text("notify.command = 'x'")
    threads = [threading.Thread(target=trust, args=(str(root), files.places.host_dir)) for root in roots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    paths = [str(root / ".mngr/settings.toml") for root in roots]
    assert all(is_trusted(path, b"notify.command = 'x'", files.places.host_dir) for path in paths)


def test_without_a_repository_there_is_nothing_to_trust(files: ConfigFiles) -> None:
    with pytest.raises(UsageError, match="no repository"):
        trust("", files.places.host_dir)
    assert trust(files.places.repo_root, files.places.host_dir).files == ()


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
