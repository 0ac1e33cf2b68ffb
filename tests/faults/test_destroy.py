"""A destroy that was killed leaves an agent or none, and nothing that cannot be removed."""

import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.support.world import World

import mngr
from mngr.hosts.local import LocalHost, LocalProvider
from mngr.process import Completed

SLEEP = ("sleep", "1000")


class Killed(BaseException):
    """Ends mngr with its step, as a kill of the process group does."""


class HostKilledInRemovals(LocalHost):
    """This machine, where a step is killed in its n-th `rm -rf`: records and objects are removed, the rest is there."""

    def __init__(self, host_dir: str, kill_at: int) -> None:
        super().__init__(host_dir)
        self._count, self._kill_at = f"{host_dir}.count", kill_at

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", **options: Any) -> Completed:
        before = f"""rm() {{
  [ "$1" = -rf ] || {{ command rm "$@"; return; }}
  echo >>'{self._count}'
  [ "$(wc -l <'{self._count}')" -ne {self._kill_at} ] || {{
    for tree in "$@"; do command rm -rf "$tree/agent.json" "$tree/events.jsonl" "$tree/.git/objects"; done 2>/dev/null
    kill -9 0
  }}
  command rm "$@"
}}
"""
        done = super().run(argv, stdin=before.encode() + stdin if stdin else b"", **options)
        if done.code == 128 + signal.SIGKILL:
            raise Killed
        return done


class KilledProvider(LocalProvider):
    def __init__(self, host: LocalHost) -> None:
        super().__init__(host.dir)
        self._host = host


@pytest.mark.accept("Q15")
@pytest.mark.parametrize("transfer", ["worktree", "mirror"])
def test_a_destroy_killed_in_the_middle_of_a_removal_can_be_done_again(world: World, transfer: str) -> None:
    """TH-M2."""
    for kill_at in range(1, 10):
        manager = world.manager()
        agent = mngr.create("foo", args=SLEEP, transfer=transfer, manager=manager).agent
        host = HostKilledInRemovals(str(world.host_dir), kill_at)
        try:
            mngr.destroy("foo", manager=world.manager(local=KilledProvider(host)))
            was_killed = False
        except Killed:
            was_killed = True
        os.unlink(f"{world.host_dir}.count")
        there = mngr.list_agents(manager=manager).agents
        assert [row.name for row in there] in ([], ["foo"]), f"removal {kill_at}"
        assert not there or there[0].type == "command", f"half an agent after removal {kill_at}"
        if there:
            mngr.destroy(agent.id, manager=manager)
        mngr.remove_garbage(mngr.find_garbage(manager=manager), manager=manager)
        assert world.left_behind() == [], f"removal {kill_at}"
        if not was_killed:
            break
    assert kill_at == (2 if transfer == "worktree" else 3)


def commits_kept(world: World) -> set[str]:
    listed = world.git("for-each-ref", "--format=%(refname:short)", "refs/heads/mngr").split()
    return {name.removeprefix("mngr/") for name in listed}


def test_many_agents_go_with_few_processes_and_each_branch_is_judged_by_itself(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager, log = world.manager(), world.folder / "git.log"
    names = [f"idle-{number}" for number in range(4)] + ["worked", "same-work", "checked-out"]
    made = {name: mngr.create(name, args=SLEEP, manager=manager).agent for name in names}
    work = made["worked"].work_dir
    identity = ("-c", "user.name=n", "-c", "user.email=n@example.org")
    world.git(*identity, "commit", "-q", "--allow-empty", "-m", "work", cwd=Path(work))
    world.git("reset", "-q", "--hard", "mngr/worked", cwd=Path(made["same-work"].work_dir))
    for name in ("checked-out", "worked", "same-work"):
        world.git("checkout", "-q", "--detach", cwd=Path(made[name].work_dir))
    world.git("checkout", "-q", "mngr/checked-out")
    monkeypatch.setenv("PATH", f"{_counting_git(world.folder / 'bin', log)}:{os.environ['PATH']}")
    changes = {change.agent.name: change for change in mngr.destroy(names, manager=manager)}
    assert all("kept" not in " ".join(changes[f"idle-{number}"].notes) for number in range(4))
    assert "is checked out in" in " ".join(changes["checked-out"].notes)
    # Two branches with the same commits: one of them must stay.
    kept = commits_kept(world)
    assert len(kept & {"worked", "same-work"}) == 1
    assert kept <= {"worked", "same-work", "checked-out"}
    calls = log.read_text().splitlines()
    assert sum(" branch -q -D" in call for call in calls) <= 2
    assert sum(" rev-parse --is-bare-repository" in call for call in calls) < len(names)


def _counting_git(folder: Path, log: Path) -> Path:
    """A folder with a git that writes down what it is asked for."""
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\necho "$*" >>\'{log}\'\nexec {shutil.which("git")} "$@"\n')
    (folder / "git").chmod(0o755)
    return folder
