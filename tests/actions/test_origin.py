"""`--from`: a folder, another agent, a repository elsewhere."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.world import World

import mngr

SLEEP = ("sleep", "1000")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.end()


def test_a_path_relative_to_where_we_are(world: World) -> None:
    manager = mngr.Manager(str(world.folder), world.env)
    agent = mngr.create("foo", args=SLEEP, source=world.repo.name, manager=manager).agent
    assert (agent.source, agent.branch) == (str(world.repo), "mngr/foo")


def test_another_agents_work(world: World) -> None:
    first = mngr.create("foo", args=SLEEP, manager=world.manager()).agent
    work = Path(first.work_dir)
    (work / "new").write_text("x")
    world.git("add", ".", cwd=work)
    world.git("commit", "-qm", "by foo", cwd=work)
    second = mngr.create("bar", args=SLEEP, source="foo", manager=world.manager()).agent
    assert world.git("log", "--format=%s", cwd=Path(second.work_dir)).splitlines() == ["by foo", "first"]


def test_a_git_url_brought_up_to_date_each_time(world: World) -> None:
    url = f"file://{world.repo}"
    first = mngr.create("foo", args=SLEEP, source=url, manager=world.manager()).agent
    assert (Path(first.work_dir) / "file.txt").read_text() == "one\n"
    (world.repo / "file.txt").write_text("two\n")
    world.git("commit", "-qam", "second")
    second = mngr.create("bar", args=SLEEP, source=url, manager=world.manager()).agent
    assert second.source == first.source
    assert (Path(second.work_dir) / "file.txt").read_text() == "two\n"
    assert world.git("branch", "--format=%(refname:short)").split() == ["main"]


@pytest.mark.parametrize(
    ("source", "says"), [("nowhere", "nowhere"), ("file:///no/such/repo", "cannot fetch")]
)
def test_what_is_not_there_is_an_error_and_leaves_nothing(world: World, source: str, says: str) -> None:
    with pytest.raises(mngr.MngrError, match=says) as error:
        mngr.create("foo", args=SLEEP, source=source, manager=world.manager())
    assert error.value.hint
    assert world.left_behind() == []
