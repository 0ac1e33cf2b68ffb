"""`mngr gc` and `mngr cleanup`."""

import pytest
from tests.cli.command import Mngr


def names(mngr: Mngr) -> list[str]:
    return [agent["name"] for agent in mngr.ok("list", "--json").json["agents"]]


@pytest.mark.accept("K1")
def test_gc_removes_what_nobody_owns_and_nothing_else(mngr: Mngr) -> None:
    assert mngr.ok("gc").stdout == "Nothing to remove\n"
    mngr.ok("create", "foo", "--", "sleep", "60")
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
    mngr.ok("create", "live", "--label", "b=7", "--", "sleep", "60")
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
