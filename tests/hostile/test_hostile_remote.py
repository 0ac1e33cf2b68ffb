"""What a host of another user can do to this machine by forging its own files: nothing beyond what was asked of it."""

import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.hostile.remote import NAME, Remote, portrait
from tests.support.world import World

import mngr
from mngr import process
from mngr.errors import MngrError, RefusedError, UsageError
from mngr.model.agent import Agent
from mngr.store.paths import HostPaths
from mngr.store.runfile import parse_run_file

pytestmark = pytest.mark.accept("Q11")
_MNGR = f"{shlex.quote(sys.executable)} -m mngr"
_HOOK = b"#!/bin/sh\ntouch '%s'\n"


@pytest.fixture
def agent(remote: Remote) -> Agent:
    """An agent on the hostile host, made from the world's repository."""
    return _create(remote, "foo")


@pytest.fixture
def victim(world: World) -> Path:
    """Another repository of the user's: a worktree with uncommitted work, and an unmerged branch `release`."""
    top = world.folder / "victim"
    top.mkdir()
    world.git("clone", "-q", str(world.repo), str(top), cwd=world.folder)
    world.git("config", "user.name", "Ada", cwd=top)
    world.git("config", "user.email", "ada@example.com", cwd=top)
    world.git("worktree", "add", "-q", "-b", "precious", "../precious", cwd=top)
    (world.folder / "precious" / "unsaved").write_text("only here")
    world.git("branch", "release", cwd=top)
    world.git("branch", "release")
    return top


def _create(remote: Remote, name: str, **fields: Any) -> Agent:
    asked = {"args": ("sleep", "1000"), **fields}
    return mngr.create(f"{name}@{NAME}.ssh", manager=remote.manager, **asked).agent


def _everything(world: World, victim: Path) -> dict[str, tuple[int, bytes]]:
    return portrait(world.repo, victim, world.folder / "precious")


def test_an_outbox_never_leaves_the_named_folder_whatever_the_agent_is_called(
    remote: Remote, agent: Agent, world: World
) -> None:
    """TH-C1."""
    owned = world.folder / "owned"
    hook = _HOOK % os.fsencode(owned)
    outbox = remote.agent(agent).outbox
    for path in ("pre-commit", ".git/hooks/pre-commit", "sub/.GIT/hooks/pre-commit"):
        remote.write(f"{outbox}/{path}", hook, 0o755)
    remote.write(f"{outbox}/result.json", b"{}")
    remote.forge_event(agent, "renamed", name="../.git/hooks")
    hooks = portrait(world.repo / ".git")
    pipe = f"{_MNGR} list --format jsonl | {_MNGR} pull - --outbox --to results"
    done = process.run(("sh", "-c", pipe), cwd=str(world.repo), env=world.env, timeout_s=120)
    assert b"result.json" in done.stdout, done
    assert portrait(world.repo / ".git") == hooks
    world.git("commit", "-q", "--allow-empty", "-m", "mine")
    assert not owned.exists()
    assert sorted(path.name for path in world.repo.iterdir()) in (
        [".git", "file.txt", "results"],
        [".git", "file.txt"],
    )
    # By any name that fits: an outbox cannot make a repository of the folder that it goes to.
    remote.forge_event(agent, "renamed", name="foo")
    pulled = mngr.pull_outbox(agent.id, "there", manager=remote.manager)
    assert set(pulled.files) == {"pre-commit", "result.json"}
    assert any(".git" in note for note in pulled.notes)
    world.git("-C", str(world.repo / "there/foo"), "commit", "-q", "--allow-empty", "-m", "mine")
    assert not owned.exists()


def test_an_outbox_goes_through_no_link_that_is_there_already(
    remote: Remote, agent: Agent, world: World
) -> None:
    """TH-C1."""
    remote.write(f"{remote.agent(agent).outbox}/pre-commit", b"#!/bin/sh\n", 0o755)
    (world.repo / "foo").symlink_to(".git/hooks")
    before = portrait(world.repo)
    with pytest.raises(RefusedError, match="link"):
        mngr.pull_outbox(agent.id, ".", manager=remote.manager)
    assert portrait(world.repo) == before


def _forgeries(world: World, victim: Path) -> dict[str, dict[str, Any]]:
    worktree = {"transfer": "worktree", "owns_branch": True, "owns_work_dir": True}
    return {
        "transfer": {
            **worktree,
            "source": str(victim),
            "branch": "release",
            "work_dir": str(world.folder / "precious"),
        },
        "source": {"source": str(victim)},
        "branch": {"branch": "release"},
        "base_commit": {"base_commit": "", "branch": "release"},
    }


@pytest.mark.parametrize("field", ["transfer", "source", "branch", "base_commit"])
def test_a_forged_record_reaches_no_repository_of_this_machine(
    remote: Remote, agent: Agent, world: World, victim: Path, field: str
) -> None:
    """TH-H1."""
    commit = remote.commit(agent)
    assert commit
    remote.forge(agent, **_forgeries(world, victim)[field])
    before = _everything(world, victim)
    there = mngr.find(agent.id, manager=remote.manager)
    with pytest.raises(RefusedError, match=field):
        mngr.pull(agent.id, manager=remote.manager)
    with pytest.raises(RefusedError, match=field):
        mngr.pull(agent.id, mode="merge", manager=remote.manager)
    # As a pipeline pulls: with the uncommitted work of an agent that was cut short.
    with pytest.raises(RefusedError, match=field):
        mngr.pull(there, include_dirty=True, manager=remote.manager)
    with pytest.raises(RefusedError, match=field):
        mngr.push(agent.id, manager=remote.manager)
    assert _everything(world, victim) == before
    (change,) = mngr.destroy(agent.id, manager=remote.manager)
    assert _everything(world, victim) == before
    assert any(field in note and str(world.repo) in note for note in change.notes), change.notes
    assert not remote.is_there(remote.agent(agent).dir)
    assert not remote.is_there(agent.work_dir)
    # What only the agent had is kept where it was, on its own host.
    store = remote.user.run(f"git --git-dir='{remote.paths.snapshots}/store-sha1.git' rev-list --all").text
    assert commit in store


def test_a_record_that_was_left_alone_brings_commits_to_where_they_were_asked_for(
    remote: Remote, agent: Agent, world: World
) -> None:
    """TH-H1: the honest case, each message with the repository that it changed."""
    commit = remote.commit(agent)
    pulled = mngr.pull(agent.id, mode="merge", manager=remote.manager)
    assert (pulled.branch, pulled.after, pulled.repository) == ("mngr/foo", commit, str(world.repo))
    assert any(str(world.repo) in note for note in pulled.notes)
    assert world.git("rev-parse", "HEAD", "mngr/foo").split() == [commit, commit]
    later = remote.commit(agent, "echo more >more")
    (change,) = mngr.destroy(agent.id, manager=remote.manager)
    assert any(str(world.repo) in note for note in change.notes)
    assert world.git("rev-parse", "mngr/foo").strip() == later


def _records(world: World) -> list[Path]:
    return sorted(path for path in (world.host_dir / "created").rglob("*") if path.is_file())


def test_a_creation_is_recorded_for_its_owner_alone_and_forgotten_with_the_agent(
    remote: Remote, agent: Agent, world: World
) -> None:
    (record,) = _records(world)
    assert record.stat().st_mode & 0o777 == 0o600
    mngr.create("here", args=("sleep", "1000"), manager=remote.manager)
    assert _records(world) == [record]
    copy = mngr.clone(agent.id, f"bar@{NAME}.ssh", manager=remote.manager).agent
    assert len(_records(world)) == 2
    mngr.destroy([agent.id, copy.id, "here"], manager=remote.manager)
    assert _records(world) == []
    with pytest.raises(MngrError):
        _create(remote, "never", args=("no-such-program",))
    assert _records(world) == []


def test_a_clone_runs_here_what_was_asked_for_and_nothing_else(remote: Remote, world: World) -> None:
    """TH-M6."""
    agent = _create(remote, "foo", env={"GIVEN": "as said"}, windows={"log": "sleep 1000"})
    owned, before = world.folder / "owned", portrait(world.repo)
    run = remote.host.read(remote.agent(agent).run)
    for field, value in (
        ("argv", ("touch", str(owned))),
        ("windows", {"log": f"touch {shlex.quote(str(owned))}"}),
        ("type", "scripted"),
    ):
        original = remote.host.read(remote.agent(agent).spec)
        remote.forge(agent, **{field: value})
        for act in (mngr.clone, mngr.migrate):
            with pytest.raises(RefusedError, match=field):
                act(agent.id, "copy@local", manager=remote.manager)
        remote.write(remote.agent(agent).spec, original)
    remote.write(remote.agent(agent).run, run.replace(b"as said", b"as forged"))
    with pytest.raises(RefusedError, match="GIVEN"):
        mngr.clone(agent.id, "copy@local", manager=remote.manager)
    assert portrait(world.repo) == before
    # A variable that the host added was never asked for: it stays there.
    remote.write(remote.agent(agent).run, run.replace(b'"env":{', b'"env":{"LD_PRELOAD":"/evil.so",', 1))
    copy = mngr.clone(agent.id, "copy@local", manager=remote.manager).agent
    assert copy.state == "RUNNING"
    kept = parse_run_file(Path(HostPaths(str(world.host_dir)).agent(copy.id).run).read_bytes()).env
    assert kept["GIVEN"] == "as said"
    assert "LD_PRELOAD" not in kept
    assert not owned.exists()


def _second_machine(remote: Remote, world: World) -> tuple[mngr.Manager, Path]:
    """A manager that never saw the creation, and the repository it stands in."""
    repo = world.folder / "elsewhere"
    world.git("clone", "-q", str(world.repo), str(repo), cwd=world.folder)
    world.git("branch", "release", cwd=repo)
    return remote.manager_of(str(world.folder / "h2"), str(repo)), repo


def test_a_machine_that_did_not_create_an_agent_pulls_into_a_branch_of_its_own_choice(
    remote: Remote, agent: Agent, world: World, victim: Path
) -> None:
    """TH-H1."""
    second, repo = _second_machine(remote, world)
    commit = remote.commit(agent)
    # From the same machine even: without a record the host's word about a place here counts for nothing.
    remote.forge(agent, **_forgeries(world, victim)["transfer"] | {"work_dir": agent.work_dir})
    before = _everything(world, victim)
    refs = world.git("for-each-ref", cwd=repo)
    told = process.run(
        ("sh", "-c", f"{_MNGR} pull foo 2>&1"), cwd=str(repo), env=dict(second.env), timeout_s=120
    ).text
    warned, _, done = told.partition("not created from here")
    assert "new at" not in warned
    assert f"mngr/foo@{NAME} in {repo} new at {commit[:10]}" in done
    pulled = mngr.pull(agent.id, manager=second)
    assert (pulled.branch, pulled.repository) == (f"mngr/foo@{NAME}", str(repo))
    assert any("not created from here" in warning for warning in second.warnings)
    world.git("update-ref", "-d", f"refs/heads/mngr/foo@{NAME}", commit, cwd=repo)
    assert world.git("for-each-ref", cwd=repo) == refs
    with pytest.raises(RefusedError, match="sleep 1000") as refused:
        mngr.clone(agent.id, "copy@local", manager=second)
    assert "not created from here" in refused.value.message
    (change,) = mngr.destroy(agent.id, manager=second)
    assert any("not created from here" in note for note in change.notes)
    assert world.git("for-each-ref", cwd=repo) == refs
    assert _everything(world, victim) == before
    assert not remote.is_there(agent.work_dir)


def test_a_snapshot_runs_here_what_was_asked_for_and_nothing_else(
    remote: Remote, agent: Agent, world: World
) -> None:
    """TH-M6."""
    owned = world.folder / "owned"
    mngr.create_snapshot(agent.id, "kept", manager=remote.manager)
    mngr.destroy(agent.id, manager=remote.manager)
    made = mngr.create("one@local", snapshot="kept", manager=remote.manager).agent
    assert made.state == "RUNNING"
    second, _ = _second_machine(remote, world)
    with pytest.raises(RefusedError, match="sleep 1000"):
        mngr.create("two@local", snapshot="kept", manager=second)
    named = mngr.create("two@local", snapshot="kept", args=("sleep", "2000"), manager=second).agent
    assert named.state == "RUNNING"
    mngr.destroy(named.id, manager=second)
    path = f"{remote.paths.snapshots}/kept/agent.json"
    remote.write(
        path, remote.host.read(path).replace(b'["sleep","1000"]', b'["touch","%s"]' % os.fsencode(owned))
    )
    with pytest.raises(RefusedError, match="argv"):
        mngr.create("three@local", snapshot="kept", manager=remote.manager)
    assert not owned.exists()


def test_what_a_host_says_is_shown_without_acting_on_the_terminal(remote: Remote, agent: Agent) -> None:
    remote.forge(agent, source="/x\x1b]52;c;cm0gLXJm\x07\u202egone")
    with pytest.raises(MngrError) as refused:
        mngr.pull(agent.id, manager=remote.manager)
    assert isinstance(refused.value, RefusedError | UsageError)
    assert (refused.value.message + refused.value.hint).isprintable()
