import os
from pathlib import Path

import pytest
from tests.support.world import World

from mngr import registry
from mngr.actions.doctor import TOOLS, examine
from mngr.actions.manager import Manager
from mngr.model.finding import Finding

pytestmark = pytest.mark.accept("K1")


def _findings(manager: Manager) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine(manager)}


def _tools(world: World, **scripts: str) -> Manager:
    """A manager whose PATH holds only these programs, each a shell script."""
    folder = world.folder / "bin"
    folder.mkdir()
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return Manager(cwd=str(world.repo), env={**world.env, "PATH": str(folder)})


def test_a_machine_that_has_what_is_needed_has_no_error(world: World) -> None:
    os.mkdir(world.host_dir, 0o700)
    findings = examine(world.manager_here)
    assert [finding for finding in findings if not finding.ok and finding.severity == "error"] == []
    assert all(finding.fix for finding in findings if not finding.ok)
    by_name = {finding.name: finding for finding in findings}
    assert by_name["tmux"].found[0].isdigit()
    assert "room for about" in by_name["descriptors"].found


def test_everything_missing_names_its_command_and_only_the_needed_are_errors(world: World) -> None:
    found = _findings(_tools(world))
    missing = {name for name, finding in found.items() if "not installed" in finding.found}
    assert missing == {
        *("tmux", "git", "tar", "ssh", "rsync", "docker", "asciinema", "claude", "codex", "opencode")
    }
    assert {name for name in missing if found[name].severity == "error"} == {"tmux", "git", "tar"}
    assert found["tmux"].fix.endswith("install tmux")
    assert found["claude"].fix == "npm install -g @anthropic-ai/claude-code"


def test_an_old_version_is_told_from_a_new_one(world: World) -> None:
    found = _findings(
        _tools(world, **{"tmux": "echo tmux 3.1c", "git": "echo git version 2.47.1", "apt-get": ""})
    )
    assert (found["tmux"].ok, found["tmux"].found) == (False, "3.1, older than 3.2")
    assert "apt-get install -y tmux" in found["tmux"].fix
    assert (found["git"].ok, found["git"].found) == (True, "2.47.1")


def test_programs_that_hang_cost_the_seconds_of_one(world: World) -> None:
    """Each writes down how many of them it sees alive; of programs run one after the other none sees another."""
    pids, seen = world.folder / "pids", world.folder / "seen"
    pids.mkdir()
    hang = f"""\
: >"{pids}/$$"
for pid in "{pids}"/*; do kill -0 "${{pid##*/}}" 2>/dev/null && others=x$others; done
echo "$others" >>"{seen}"
exec /bin/sleep 1000"""
    found = _findings(_tools(world, **{tool.name: hang for tool in TOOLS}))
    assert max(len(line) for line in seen.read_text().split()) > len(TOOLS) // 2
    assert (found["docker"].ok, found["docker"].found) == (False, "no engine answers")


def test_a_host_dir_that_others_read_or_nobody_can_write_is_an_error(world: World) -> None:
    os.mkdir(world.host_dir)
    os.chmod(world.host_dir, 0o755)
    found = _findings(world.manager_here)["host dir"]
    assert (found.ok, found.severity, found.fix) == (False, "error", f"chmod 700 {world.host_dir}")
    os.chmod(world.host_dir, 0o700)
    found = _findings(world.manager_here)["host dir"]
    assert found.ok
    assert "GB free" in found.found
    blocked = world.folder / "a file"
    blocked.touch()
    manager = Manager(cwd="/", env={**world.env, "MNGR_HOST_DIR": f"{blocked}/h"})
    assert "cannot be written" in _findings(manager)["host dir"].found


def test_a_broken_config_and_one_that_is_not_trusted_are_named(world: World) -> None:
    settings = world.repo / ".mngr" / "settings.toml"
    settings.parent.mkdir()
    settings.write_text('[commands.create]\nconnect_command = "x"\n')
    found = _findings(world.manager_in(world.repo))["config"]
    assert (found.ok, found.severity, found.fix) == (False, "warning", "mngr config trust")
    settings.write_text("[comands]\n")
    found = _findings(world.manager_in(world.repo))["config"]
    assert (found.ok, found.severity) == (False, "error")
    assert "comands" in found.found
    settings.unlink()
    assert _findings(world.manager_in(world.repo))["config"].ok


def test_a_broken_plugin_is_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    info = world.folder / "site" / "cracked-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text("[mngr.agent_types]\ncracked = no_such_module:Type\n")
    monkeypatch.syspath_prepend(str(info.parent))
    registry.plugin_entries.cache_clear()
    registry.entries.cache_clear()
    try:
        found = _findings(world.manager_here)["plugins"]
        assert found.ok is False
        assert 'plugin "cracked" is broken' in found.found
        assert "pip uninstall cracked" in found.fix
    finally:
        registry.plugin_entries.cache_clear()
        registry.entries.cache_clear()


def test_the_server_the_locale_and_garbage_are_looked_at(world: World) -> None:
    assert "none runs" in _findings(world.manager_here)["tmux server"].found
    world.create("foo")
    Path(world.paths.work, "stray").mkdir()
    found = _findings(Manager(cwd=str(world.repo), env={**world.env, "LANG": "C", "LC_ALL": ""}))
    assert found["tmux server"].found == "answers, 1 sessions"
    assert (found["locale"].ok, found["locale"].fix) == (False, "export LANG=C.UTF-8")
    assert (found["garbage"].found, found["garbage"].fix) == ("1 thing without an owner", "mngr gc")
