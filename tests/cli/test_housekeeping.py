"""`mngr gc`, `mngr cleanup` and `mngr doctor`."""

import shutil
from pathlib import Path

import pytest
from tests.cli.command import Mngr


def names(mngr: Mngr) -> list[str]:
    return [agent["name"] for agent in mngr.ok("list", "--json").json["agents"]]


@pytest.mark.accept("K1")
def test_gc_removes_what_nobody_owns_and_nothing_else(mngr: Mngr) -> None:
    assert mngr.ok("gc").stdout == "Nothing to remove\n"
    mngr.ok("create", "foo", "--", "sleep", "1000")
    orphan = mngr.world.host_dir / "work" / "nobody-123456"
    orphan.mkdir(parents=True)
    shown = mngr.ok("gc", "--dry-run")
    assert str(orphan) in shown.stdout
    assert orphan.exists()
    assert mngr("gc").code == 6
    assert mngr.ok("gc", "--yes", "--json").json[0]["what"] == str(orphan)
    assert not orphan.exists()
    assert names(mngr) == ["foo"]


@pytest.mark.accept("K1")
def test_cleanup_chooses_by_filter_and_age(mngr: Mngr) -> None:
    mngr.ok("create", "live", "--label", "b=7", "--", "sleep", "1000")
    mngr.ok("create", "over", "--", "sh", "-c", "sleep 0.1")
    mngr.ok("wait", "over")
    assert mngr("cleanup", "-y").code == 2
    assert mngr("cleanup", "--stopped", "--stop", "--destroy").code == 2
    assert mngr.ok("cleanup", "--stopped", "--older-than", "1h", "-y").stderr == "No agent matches\n"
    assert mngr.ok("cleanup", "--stopped", "--dry-run").stdout == "Would destroy over\n"
    assert mngr("cleanup", "--stopped").code == 6
    assert mngr.ok("cleanup", "--stopped", "--yes").stdout == "Destroyed over\n"
    assert mngr.ok("cleanup", "--label", "b=7", "--stop", "-y").stdout == "Stopped live\n"
    assert names(mngr) == ["live"]


@pytest.mark.accept("K1", "K19")
def test_doctor_says_what_is_missing_and_how_to_mend_it(mngr: Mngr, tmp_path: Path) -> None:
    healthy = mngr("doctor", "--json")
    found = {finding["name"]: finding for finding in healthy.json}
    assert found["tmux"]["ok"]
    assert healthy.code == 0
    assert "ok       tmux:" in mngr.ok("doctor").stdout
    for name in ("sh", "git", "python3"):
        (tmp_path / name).symlink_to(shutil.which(name) or "/bin/sh")
    without = mngr("doctor", PATH=str(tmp_path))
    assert without.code == 1
    assert "missing  tmux:" in without.stdout
    assert "fix: " in without.stdout


def test_doctor_works_with_a_broken_config(mngr: Mngr) -> None:
    mngr.world.host_dir.mkdir()
    (mngr.world.host_dir / "config.toml").write_text("[broken")
    done = mngr("doctor", "--json")
    assert done.code == 1
    assert not {finding["name"]: finding for finding in done.json}["config"]["ok"]
