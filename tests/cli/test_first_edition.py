"""A host dir and config keys of the first edition (commit 82f589c) mean what they meant then.

`first_edition/host.tar.gz` was made with that commit's own command: agents that were stopped, ended well, failed, took
messages, got labels until their log was folded, and were renamed, one that a reboot ended, a worktree and a snapshot.
Paths and the machine's name are placeholders in it.
"""

import os
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
from tests.cli.command import Mngr

from mngr.cli.app import app
from mngr.cli.commands import COMMANDS
from mngr.cli.verb import option_names
from mngr.hosts.docker.settings import DockerSettings
from mngr.hosts.modal.settings import ModalSettings
from mngr.hosts.ssh.settings import SshSettings
from mngr_e2e.cli import places
from mngr_tmr.cli import settings

FILES = Path(__file__).parent / "first_edition"
# As its own `list --json` showed them.
AGENTS = {
    "sleeper": ("STOPPED", "stopped", None, {"team": "blue", "issue": "15", "rank": "13"}, "main", "none"),
    "finished": ("DONE", "exit record", 0, {}, "main", "none"),
    "failed": ("DONE", "exit record", 3, {"team": "red"}, "main", "none"),
    "player": ("STOPPED", "stopped", None, {}, "main", "none"),
    "branchy": ("STOPPED", "stopped", None, {}, "mngr/tree", "worktree"),
    "lost": ("STOPPED", "reboot", None, {}, "main", "none"),
}


@pytest.fixture
def old(mngr: Mngr) -> Mngr:
    """The command, in a world whose host dir and repository the first edition left."""
    folder = mngr.world.folder
    replaced = {
        b"@TOP@/host": os.fsencode(mngr.world.host_dir),
        b"@TOP@": os.fsencode(folder),
        b"@MACHINE@": os.uname().nodename.encode(),
        b"@PYTHON@": os.fsencode(sys.executable),
    }
    with tarfile.open(FILES / "host.tar.gz") as archive:
        for member in archive:
            member.name = member.name.replace("host", "h", 1)
            member.linkname = member.linkname.replace("host", "h", 1)
            if member.isreg():
                file = archive.extractfile(member)
                assert file
                data = file.read()
                for placeholder, value in replaced.items():
                    data = data.replace(placeholder, value)
                path = folder / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
                path.chmod(member.mode)
            elif member.islnk():
                os.link(folder / member.linkname, folder / member.name)
            else:
                archive.extract(member, folder, filter="tar")
    mngr.world.repo = folder / "project"
    return mngr


def agents(mngr: Mngr) -> dict[str, Any]:
    return {agent["name"]: agent for agent in mngr.ok("list", "--json").json["agents"]}


def test_its_agents_are_listed_and_explained_as_they_were(old: Mngr) -> None:
    keys = ("state", "why", "exit_code", "labels", "branch", "transfer")
    assert {name: tuple(row[key] for key in keys) for name, row in agents(old).items()} == AGENTS
    explained = old.ok("list", "--explain").stdout
    assert "lost: STOPPED (reboot)\n  state STOPPED: reboot" in explained
    assert "exit record: code 3, signal None" in explained
    assert "process 2107: gone" in explained


def test_its_logs_conversations_usage_and_snapshots_are_read(old: Mngr) -> None:
    kinds = [event["kind"] for event in old.ok("events", "player", "--format", "jsonl").lines]
    assert kinds.count("prompt_submitted") == 2
    assert kinds[-1] == "stopped"
    assert "first words" in old.ok("transcript", "player").stdout
    assert "12     3" in old.ok("usage", "player").stdout
    assert "player-1  player" in old.ok("snapshot", "list").stdout
    old.ok("snapshot", "restore", "player-1")
    old.ok("start", "player")
    assert agents(old)["player"]["state"] != "STOPPED"


def test_its_agents_are_started_written_to_and_destroyed(old: Mngr) -> None:
    old.ok("start", "sleeper", "player", "branchy", "lost")
    running = agents(old)
    assert {running[name]["state"] for name in ("sleeper", "branchy", "lost")} == {"RUNNING"}
    assert running["sleeper"]["labels"] == AGENTS["sleeper"][3]
    assert "Delivered" in old.ok("message", "player", "-m", "third words").stdout
    assert "third words" in old.ok("transcript", "player").stdout
    old.ok("label", "sleeper", "team=green")
    old.ok("rename", "branchy", "tree")
    assert agents(old)["sleeper"]["labels"]["team"] == "green"
    old.ok("stop", "--all")
    assert agents(old)["sleeper"]["why"] == "stopped"
    old.ok("destroy", "--all", "--yes")
    old.ok("snapshot", "destroy", "player-1", "--yes")
    assert old.world.left_behind() == []


@pytest.mark.parametrize("section", ["commands", "sections", "providers"])
def test_its_config_keys_are_still_keys(section: str) -> None:
    old = tomllib.loads((FILES / "config_keys.toml").read_text())[section]
    now: dict[str, set[str]] = {
        "commands": {name: keys_of(name) for name in COMMANDS},
        "sections": {"tmr": set(settings.KEYS), "tutorial": set(places.KEYS)},
        "providers": {
            "docker": set(DockerSettings.__struct_fields__),
            "modal": set(ModalSettings.__struct_fields__),
            "ssh": set(SshSettings.__struct_fields__),
        },
    }[section]
    assert {name: set(keys) - now[name] for name, keys in old.items() if set(keys) - now[name]} == {}


def keys_of(name: str) -> set[str]:
    """The options that `[commands.NAME]` may set."""
    command = app.get_command(click.Context(app), name)
    assert command
    commands = command.commands.values() if isinstance(command, click.Group) else (command,)
    return {key for each in commands for key in option_names(each)}
