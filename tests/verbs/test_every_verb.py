"""Every verb does the same on this machine and on hosts that share no files with us."""

import os
import pty

import msgspec
import pytest
from tests.verbs import asking
from tests.verbs.conftest import Place

import mngr
from mngr import process
from mngr.model.agent import Agent
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S

pytestmark = pytest.mark.accept("K1", "L1", "L2", "L7")

SLEEP = ("sleep", "1000")


def create(place: Place, *argv: str, name: str = "foo", **fields: object) -> Agent:
    fields.setdefault("transfer", "mirror")
    return mngr.create(place.address(name), args=argv, manager=place.manager(), **fields).agent  # type: ignore[arg-type]


def row(place: Place, name: str = "foo") -> Agent:
    return asking.row(place.manager(), name)


def run(place: Place, *argv: str, name: str = "foo") -> tuple[int, str]:
    heard: list[bytes] = []
    code = mngr.exec_in(name, argv, on_output=lambda _, data: heard.append(data), manager=place.manager())
    return code, b"".join(heard).decode()


def test_create_list_and_destroy(place: Place) -> None:
    agent = create(place, *SLEEP, labels={"team": "red"})
    assert row(place) == agent
    assert (agent.state, agent.branch, agent.labels) == ("RUNNING", "mngr/foo", {"team": "red"})
    assert agent.host.provider == (place.provider.name if place.provider else "local")
    assert os.path.isdir(agent.work_dir) == place.is_here
    mngr.destroy("foo", manager=place.manager())
    assert mngr.list_agents(manager=place.manager()).agents == ()
    assert place.world.left_behind() == []


def test_a_host_made_for_an_agent_goes_with_it(place: Place) -> None:
    if not place.makes_hosts:
        return
    create(place, *SLEEP)
    assert place.hosts == ["lab"]
    mngr.destroy("foo", manager=place.manager())
    assert place.hosts == []


def test_the_same_path_holds_other_files_there(place: Place) -> None:
    """A read of our own file system would find the decoy."""
    path = place.world.folder / "same path"
    if not place.is_here:
        path.mkdir()
        (path / "said").write_text("decoy\n")
    mngr.create(
        f"{place.address('foo')}:{path}",
        args=("sh", "-c", "echo from-there >said; sleep 1000"),
        transfer="mirror",
        manager=place.manager(),
    )
    assert row(place).work_dir == str(path)
    assert wait_until(lambda: run(place, "cat", "said") == (0, "from-there\n"), PATIENCE_S)
    to = place.world.folder / "got"
    mngr.pull_files("foo", ["said"], str(to), manager=place.manager())
    assert (to / "said").read_text() == "from-there\n"
    if not place.is_here:
        mngr.destroy("foo", manager=place.manager())
        assert (path / "said").read_text() == "decoy\n"


def test_exec_runs_in_the_agents_place_and_returns_the_commands_own_code(place: Place) -> None:
    agent = create(place, *SLEEP, env={"COLOUR": "blue $(id)"})
    assert run(place, "sh", "-c", 'echo "$COLOUR"; pwd; exit 42') == (42, f"blue $(id)\n{agent.work_dir}\n")
    with pytest.raises(mngr.TimedOutError):
        mngr.exec_in("foo", SLEEP, timeout_s=0.3, on_output=lambda _, __: None, manager=place.manager())


def test_message_and_wait_and_transcript(place: Place) -> None:
    mngr.create(place.address("foo"), type="scripted", transfer="none", manager=place.manager())
    sent = mngr.message("foo", "hello\nthere", manager=place.manager())
    assert sent.receipt.status == "delivered"
    waited = list(mngr.wait("foo", timeout_s=PATIENCE_S, manager=place.manager()))
    assert [(each.agent.state, each.reached) for each in waited] == [("WAITING", True)]
    turns = mngr.transcript("foo", roles=("user",), manager=place.manager())
    assert [turn.text for turn in turns] == ["hello\nthere"]
    kinds = [event.kind for event in mngr.events("foo", manager=place.manager())]
    assert kinds[0] == "creating"
    assert "prompt_submitted" in kinds


def test_capture_shows_the_screen_also_after_a_stop(place: Place) -> None:
    create(place, "sh", "-c", "echo 'on the screen'; sleep 1000")
    assert wait_until(lambda: "on the screen" in mngr.capture("foo", manager=place.manager()), PATIENCE_S)
    mngr.stop("foo", manager=place.manager())
    assert "on the screen" in mngr.capture("foo", manager=place.manager())


@pytest.mark.accept("K15")
def test_a_recording_is_an_asciicast(place: Place) -> None:
    create(place, "sh", "-c", "echo recorded; sleep 1000", record=True)
    assert wait_until(lambda: b"recorded" in mngr.cast("foo", manager=place.manager()), PATIENCE_S)
    head = mngr.cast("foo", manager=place.manager()).split(b"\n")[0]
    assert msgspec.json.decode(head)["version"] == 2


@pytest.mark.accept("L4", "P9")
def test_pull_brings_commits_home_and_push_takes_them_there(place: Place) -> None:
    create(place, *SLEEP)
    assert (
        run(place, "sh", "-c", "echo two >>file.txt && git commit -qam second && git rev-parse HEAD")[0] == 0
    )
    pulled = mngr.pull("foo", manager=place.manager())
    assert (pulled.branch, pulled.changed) == ("mngr/foo", True)
    assert place.world.git("log", "--format=%s", "mngr/foo").split() == ["second", "first"]
    assert place.world.git("status", "--porcelain") == ""
    mngr.pull("foo", mode="ff-only", manager=place.manager())
    assert (place.repo / "file.txt").read_text() == "one\ntwo\n"
    (place.repo / "new.txt").write_text("new\n")
    place.world.git("add", ".")
    place.world.git("commit", "-qm", "third")
    assert mngr.push("foo", manager=place.manager()).changed
    assert run(place, "cat", "new.txt") == (0, "new\n")


@pytest.mark.accept("N5")
def test_diff_shows_commits_and_uncommitted_work_together(place: Place) -> None:
    agent = create(place, *SLEEP)
    assert mngr.diff("foo", manager=place.manager()).text == ""
    script = "echo two >>file.txt; git commit -qam second; echo three >>file.txt; echo new >untracked"
    assert run(place, "sh", "-c", script)[0] == 0
    found = mngr.diff("foo", manager=place.manager())
    assert (found.agent.id, found.base) == (agent.id, agent.base_commit)
    assert [line for line in found.text.splitlines() if line[0] in "+-" and line[1] not in "+-"] == [
        *("+two", "+three", "+new"),
    ]
    assert mngr.diff("foo", form="names", manager=place.manager()).text == "file.txt\nuntracked\n"
    assert mngr.diff("foo", form="names", paths=["untracked"], manager=place.manager()).text == "untracked\n"
    assert run(place, "git", "status", "--porcelain") == (0, " M file.txt\n?? untracked\n"), (
        "nothing was touched"
    )


def test_files_are_uploaded_before_the_program_starts(place: Place) -> None:
    (place.world.folder / "tool").write_text("#!/bin/sh\necho uploaded\n")
    (place.world.folder / "tool").chmod(0o755)
    pairs = (f"{place.world.folder}/tool:bin/run-me", f"{place.world.folder}/tool:kept/")
    create(place, "sh", "-c", "bin/run-me >said; cat kept/tool >>said; sleep 1000", upload=pairs)
    expected = "uploaded\n#!/bin/sh\necho uploaded\n"
    assert wait_until(lambda: run(place, "cat", "said") == (0, expected), PATIENCE_S)


def test_the_outbox_comes_home(place: Place) -> None:
    create(place, "sh", "-c", 'echo "{}" >"$MNGR_OUTBOX/result.json"; sleep 1000')
    waited = list(mngr.wait("foo", until="result", timeout_s=PATIENCE_S, manager=place.manager()))
    assert waited[0].agent.result
    mngr.pull_outbox("foo", str(place.world.folder / "results"), manager=place.manager())
    assert (place.world.folder / "results/foo/result.json").read_text() == "{}\n"


def test_stop_start_rename_and_label(place: Place) -> None:
    create(place, *SLEEP)
    assert mngr.stop("foo", manager=place.manager())[0].agent.state == "STOPPED"
    assert mngr.stop("foo", manager=place.manager())[0].changed is False
    assert mngr.start("foo", manager=place.manager()).agent.state == "RUNNING"
    renamed = mngr.rename("foo", "bar", manager=place.manager()).agent
    assert (renamed.name, renamed.session) == ("bar", "mngr-bar")
    assert mngr.label("bar", {"k": "v"}, manager=place.manager()).agent.labels == {"k": "v"}
    assert mngr.label("bar", {}, ["k"], manager=place.manager()).agent.labels == {}
    with pytest.raises(mngr.NotFoundError):
        mngr.stop("foo", manager=place.manager())
    create(place, *SLEEP, name="foo")
    with pytest.raises(mngr.RefusedError):
        mngr.rename("foo", "bar", manager=place.manager())


def test_clone_copies_commits_and_uncommitted_work(place: Place) -> None:
    create(place, *SLEEP, labels={"a": "1"}, env={"X": "y"})
    run(
        place,
        "sh",
        "-c",
        "echo two >file.txt; git commit -qam second; echo three >file.txt; echo new >untracked",
    )
    clone = mngr.clone("foo", place.address("bar"), manager=place.manager()).agent
    assert (clone.name, clone.labels, clone.state) == ("bar", {"a": "1"}, "RUNNING")
    assert run(place, "sh", "-c", "cat file.txt untracked; git log -1 --format=%s; echo $X", name="bar") == (
        0,
        "three\nnew\nsecond\ny\n",
    )
    assert row(place).state == "RUNNING"


def test_migrate_takes_all_of_it_along_and_brings_it_back(place: Place) -> None:
    first = mngr.create("foo", args=SLEEP, labels={"a": "1"}, env={"X": "y"}, manager=place.manager()).agent
    with pytest.raises(mngr.RefusedError, match="already"):
        mngr.migrate("foo", "@local", manager=place.manager())
    if place.is_here:
        return
    run(place, "sh", "-c", "echo two >file.txt; git commit -qam second; echo new >untracked")
    run(place, "sh", "-c", 'echo mine >"$MNGR_OUTBOX/note"')
    there = mngr.migrate("foo", place.at, manager=place.manager()).agent
    assert (there.name, there.host.name, there.labels, there.state) == ("foo", "lab", {"a": "1"}, "RUNNING")
    assert [agent.id for agent in mngr.list_agents(manager=place.manager()).agents] == [there.id]
    script = 'cat file.txt untracked "$MNGR_OUTBOX/note"; git log -1 --format=%s; echo $X'
    assert run(place, "sh", "-c", script) == (0, "two\nnew\nmine\nsecond\ny\n")
    back = mngr.migrate(there, "@local", manager=place.manager()).agent
    assert (back.host.provider, back.id in (first.id, there.id)) == ("local", False)
    assert run(place, "sh", "-c", script) == (0, "two\nnew\nmine\nsecond\ny\n")
    assert not place.makes_hosts or place.hosts == []


def test_a_snapshot_brings_the_work_tree_back(place: Place) -> None:
    create(place, *SLEEP)
    run(place, "sh", "-c", "echo good >file.txt")
    mngr.create_snapshot("foo", "before", manager=place.manager())
    run(place, "sh", "-c", "echo bad >file.txt; echo junk >junk")
    mngr.restore_snapshot("before", manager=place.manager())
    assert run(place, "sh", "-c", "cat file.txt; ls junk 2>/dev/null") == (2, "good\n")
    assert row(place).state == "RUNNING"
    assert "before" in [snapshot.name for snapshot in mngr.list_snapshots(manager=place.manager())]


def test_the_attach_line_attaches(place: Place) -> None:
    agent = create(place, "sh", "-c", "echo attached-screen; sleep 1000")
    plan = mngr.plan_connect("foo", manager=place.manager())
    assert plan.argv == agent.attach
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execvpe(plan.argv[0], list(plan.argv), process.child_env())
    seen = b""
    try:
        while b"attached-screen" not in seen:
            seen += os.read(fd, 4096)
        os.write(fd, b"\x11")
        assert wait_until(lambda: os.waitpid(pid, os.WNOHANG)[0] == pid, PATIENCE_S)
    finally:
        os.close(fd)


def test_many_at_once(place: Place) -> None:
    manager = place.manager()
    if not place.is_here:
        create(place, *SLEEP, name="first")
    wanted = [
        (n, mngr.CreateSpec(name=place.address(f"a{n}"), args=SLEEP, transfer="mirror")) for n in range(4)
    ]
    made = dict(mngr.create_many(wanted, jobs=2, manager=manager))
    assert {n: change.agent.name for n, change in made.items() if isinstance(change, mngr.Change)} == {
        n: f"a{n}" for n in range(4)
    }
