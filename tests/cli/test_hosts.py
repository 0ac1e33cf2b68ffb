"""Hosts on the command line: ssh from the config, rows of what is silent, a host as a target."""

import time
from pathlib import Path

import pytest
from tests.cli.command import Mngr
from tests.support.sshd import Machines, machines

from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S

__all__ = ["machines"]

pytestmark = pytest.mark.slow


def configure(mngr: Mngr, machines: Machines) -> None:
    """`config.toml` as a user writes it."""
    machines.provider(mngr.world.host_dir)  # so that its sockets are removed
    lines = ["[providers.ssh]", f'config = "{machines.config}"']
    lines += [f"[providers.ssh.hosts.{name}]" for name in machines.machines]
    mngr.world.host_dir.mkdir(exist_ok=True)
    (mngr.world.host_dir / "config.toml").write_text("\n".join(lines) + "\n")


@pytest.mark.accept("L1", "L2", "L4")
def test_one_word_more_and_the_agent_is_elsewhere(mngr: Mngr, machines: Machines, tmp_path: Path) -> None:
    machines.add("box")
    configure(mngr, machines)
    work = ("sh", "-c", "echo two >>file.txt; git commit -qam second; sleep 1000")
    show = ("sh", "-c", "git log --format=%s; git status --porcelain; exit 3")
    answers = {}
    for name, where in (("here", ()), ("there", ("--provider", "ssh"))):
        made = mngr.ok("create", name, "--transfer", "mirror", "--json", *where, "--", *work).json
        assert made["state"] == "RUNNING"
        assert wait_until(lambda name=name: "second" in mngr("exec", name, "--", *show).stdout, PATIENCE_S)  # type: ignore[misc]
        done = mngr("exec", name, "--", *show)
        pulled = mngr.ok("pull", name).stdout.replace(name, "NAME").rpartition(" ")[0]
        branch = mngr.world.git("log", "--format=%s", f"mngr/{name}")
        stopped = mngr.ok("stop", name, "--json").json
        told = [stopped[key] for key in ("state", "why", "type", "exit_code")]
        answers[name] = (done.code, done.stdout, pulled, branch, told)
    assert answers["here"] == answers["there"]
    rows = {row["name"]: row["host"] for row in mngr.ok("list", "--json").json["agents"]}
    assert [rows[name]["provider"] for name in ("here", "there")] == ["local", "ssh"]
    assert mngr.ok("list", "--provider", "ssh", "--format", "{address}").stdout == "there@box.ssh\n"


@pytest.mark.accept("K11")
def test_a_silent_host_is_a_row_a_warning_and_with_strict_a_failure(mngr: Mngr, machines: Machines) -> None:
    for name in ("box", "hut"):
        machines.add(name)
    configure(mngr, machines)
    mngr.ok("create", "foo@box.ssh", "--", "sleep", "1000")
    mngr.ok("list")
    machines.machines["box"].cut_off()
    began = time.monotonic()
    done = mngr.ok("list", "--json")
    assert time.monotonic() - began < 45  # three seconds; without a deadline it is a minute
    row = done.json["agents"][0]
    assert (row["state"], row["host"]["state"]) == ("UNKNOWN", "UNREACHABLE")
    assert done.json["warnings"] == [next(iter(done.json["warnings"]))]
    hosts = mngr.ok("list", "--hosts")
    assert [line.split()[:3] for line in hosts.stdout.splitlines()[1:]] == [
        ["local", "local", "RUNNING"],
        ["box", "ssh", "UNREACHABLE"],
        ["hut", "ssh", "RUNNING"],
    ]
    assert "box.ssh" in hosts.stderr
    assert mngr("list", "--strict").code == 5
    assert mngr("exec", "foo@box.ssh", "--", "true").code == 5
    gc = mngr.ok("gc", "--dry-run")
    assert "left alone: box.ssh" in gc.stderr
    assert "box" not in mngr.ok("list", "--provider", "local").stderr


def test_a_host_of_ssh_is_let_go_of_and_never_stopped(mngr: Mngr, machines: Machines) -> None:
    machines.add("box")
    configure(mngr, machines)
    mngr.ok("create", "foo@box.ssh", "--", "sleep", "1000")
    done = mngr("stop", "@box.ssh")
    assert done.code == 2
    assert "not mngr's to stop" in done.stderr
    assert mngr.ok("stop", "@box.ssh", "--dry-run").stdout == "Would stop foo\n"
    assert mngr.ok("exec", "@box.ssh", "--", "echo", "each").stdout == "each\n"
    assert mngr.ok("destroy", "@box.ssh", "--yes").stdout == "Destroyed foo\n"
    assert mngr.ok("list", "--hosts", "--format", "{name}").stdout == "local\nbox\n"


def test_a_wrong_key_in_the_config_is_named(mngr: Mngr) -> None:
    mngr.world.host_dir.mkdir(exist_ok=True)
    (mngr.world.host_dir / "config.toml").write_text("[providers.ssh]\nbotstrap = true\n")
    done = mngr("create", "foo@box.ssh", "--", "true")
    assert done.code == 2
    assert "unknown key botstrap" in done.stderr
    assert '"bootstrap"' in done.stderr
