"""`mngr config`, and what layers do to other commands."""

from pathlib import Path

import pytest
from tests.cli.command import Mngr


@pytest.mark.accept("K1")
def test_set_get_explain_unset(mngr: Mngr) -> None:
    assert mngr.ok("config", "get", "prefix").stdout == "mngr-\n"
    mngr.ok("config", "set", "prefix", "mine-")
    mngr.ok("config", "set", "--local", "prefix", "here-")
    assert mngr.ok("config", "get", "prefix").stdout == "here-\n"
    rows = mngr.ok("config", "explain", "prefix", "--json").json
    assert [(row["value"], row["standing"]) for row in rows] == [
        ("mngr-", "overridden"),
        ("mine-", "overridden"),
        ("here-", "used"),
    ]
    assert mngr.ok("config", "get", "prefix", "-S", "prefix=now-").stdout == "now-\n"
    assert mngr.ok("-S", "prefix=now-", "config", "get", "prefix").stdout == "now-\n"
    assert mngr.ok("config", "get", "prefix", MNGR__PREFIX="env-").stdout == "env-\n"
    mngr.ok("config", "unset", "--local", "prefix")
    assert mngr.ok("config", "list").stdout.count('prefix = "mine-"') == 1
    assert mngr("config", "get", "nothing.here").code == 1
    assert mngr("config", "set", "prefx", "x").code == 2
    assert mngr("config", "lst").code == 2


def test_edit_opens_the_file_and_checks_it(mngr: Mngr, tmp_path: Path) -> None:
    editor = tmp_path / "my editor"
    editor.write_text('#!/bin/sh\nprintf "%s\\n" "$TEXT" >"$1"\n')
    editor.chmod(0o755)
    assert mngr("config", "edit", EDITOR=f"'{editor}'", TEXT='prefix = "x-"').code == 0
    assert mngr.ok("config", "get", "prefix").stdout == "x-\n"
    bad = mngr("config", "edit", EDITOR=f"'{editor}'", TEXT="prefx = 1")
    assert bad.code == 2
    assert mngr.ok("config", "path").stdout.strip() == str(mngr.world.host_dir / "config.toml")
    assert mngr("config", "edit", EDITOR="false").code == 1


@pytest.mark.accept("K18")
def test_trust_says_what_it_lets_in(mngr: Mngr) -> None:
    (mngr.world.repo / ".mngr").mkdir()
    (mngr.world.repo / ".mngr/settings.toml").write_text('[commands.create]\nconnect_command = "x"\n')
    assert "connect_command" in mngr.ok("config", "trust").stdout
    assert mngr.ok("config", "trust").stdout.startswith("Trusted already:")
    assert mngr.ok("config", "get", "commands.create.connect_command").stdout == "x\n"
