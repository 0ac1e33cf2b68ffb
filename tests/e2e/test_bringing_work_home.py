"""Bringing work home: commands where an agent works, its commits, its files, and yours to it."""

import tarfile

import pytest
from tests.e2e.scene import agents, commit, git, given, inside

from mngr_e2e import E2eSession, eventually, expect

pytestmark = [pytest.mark.slow, pytest.mark.e2e(record=False)]


def test_a_command_runs_where_the_agent_works(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # run a command where the agent works; its exit code is ours
        mngr exec fix-login -- git status --short
    """)
    given(e2e, "mngr create fix-login -- bash")
    inside(e2e, "fix-login", "echo new >new.txt")
    result = e2e.run("mngr exec fix-login -- git status --short")
    expect(result.stdout).to_equal("?? new.txt\n")
    expect(result.stderr).to_be_empty()


def test_its_exit_code_is_ours(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # run a command where the agent works; its exit code is ours
        mngr exec fix-login -- git status --short
    """)
    given(e2e, "mngr create fix-login -- bash")
    expect(e2e.run("mngr exec fix-login -- sh -c 'exit 42'")).to_have_exit_code(42)
    expect(e2e.run("mngr exec fix-login -- no-such-program")).to_have_exit_code(127)


def test_several_places_at_once(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # in several places at once
        mngr exec left right -- git log -1 --format=%s
    """)
    given(e2e, "mngr create left -- bash", "mngr create right -- bash")
    commit(e2e, "right", "right.txt")
    result = e2e.run("mngr exec left right -- git log -1 --format=%s")
    expect(result).to_succeed()
    assert sorted(result.stdout.splitlines()) == ["add right.txt", "the first commit"]
    expect(result.stderr).to_contain("left")


def test_when_one_place_fails_the_exit_code_says_part(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # in several places at once
        mngr exec left right -- git log -1 --format=%s
    """)
    given(e2e, "mngr create left -- bash", "mngr create right -- bash")
    inside(e2e, "left", "touch here")
    result = e2e.run("mngr exec left right -- ls here")
    expect(result).to_have_exit_code(3)
    expect(result.stdout).to_contain("here")


def test_our_input_is_handed_on(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # hand it what comes on our own input
        tar c notes | mngr exec fix-login -i -- tar x
    """)
    (e2e.cwd / "notes").mkdir()
    (e2e.cwd / "notes" / "one.txt").write_text("one\n")
    given(e2e, "mngr create fix-login -- bash")
    expect(e2e.run("tar c notes | mngr exec fix-login -i -- tar x")).to_succeed()
    assert inside(e2e, "fix-login", "cat notes/one.txt") == "one\n"
    back = e2e.run("mngr exec fix-login -- tar cf - notes >back.tar")
    expect(back).to_succeed()
    with tarfile.open(e2e.cwd / "back.tar") as archive:
        assert "notes/one.txt" in archive.getnames()


def test_a_command_that_takes_too_long_is_ended(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # no longer than this
        mngr exec fix-login --timeout 1s -- sleep 60
    """)
    given(e2e, "mngr create fix-login -- bash")
    result = e2e.run("mngr exec fix-login --timeout 1s -- sleep 60", timeout_s=90)
    expect(result).to_have_exit_code(124)
    assert not result.timed_out
    assert agents(e2e)["fix-login"]["state"] == "RUNNING"


def test_changes_are_shown_committed_or_not(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what it has changed since it began, committed or not
        mngr diff fix-login
        mngr diff fix-login --stat
    """)
    given(e2e, "mngr create fix-login -- bash")
    commit(e2e, "fix-login", "login.txt")
    given(e2e, "mngr exec fix-login 'echo not yet committed >draft.txt'")
    result = e2e.run("mngr diff fix-login")
    expect(result).to_succeed()
    expect(result.stdout).to_contain("+++ b/login.txt")
    expect(result.stdout).to_contain("+not yet committed")
    expect(e2e.run("mngr diff fix-login --stat").stdout).to_contain("2 files changed")
    assert git(e2e, "status", "--porcelain") == ""


def test_commits_come_home_as_a_branch(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # its commits, as a branch of this repository; no file of yours is touched
        mngr pull fix-login
    """)
    given(e2e, "mngr create fix-login --transfer mirror -- bash")
    commit(e2e, "fix-login", "login.txt")
    (e2e.cwd / "README.md").write_text("I am in the middle of something\n")
    expect(e2e.run("mngr pull fix-login")).to_succeed()
    assert git(e2e, "log", "-1", "--format=%s", "mngr/fix-login") == "add login.txt"
    assert git(e2e, "status", "--porcelain") == "M README.md"
    expect(e2e.cwd / "login.txt").not_.to_exist()


def test_a_pull_with_nothing_new_says_so(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # its commits, as a branch of this repository; no file of yours is touched
        mngr pull fix-login
    """)
    given(e2e, "mngr create fix-login --transfer mirror -- bash", "mngr pull fix-login")
    result = e2e.run("mngr pull fix-login --json")
    expect(result.stdout).to_be_json().to_have("changed", False)


def test_commits_are_merged_when_asked(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # and merged into what you have checked out
        mngr pull fix-login --merge
    """)
    given(e2e, "mngr create fix-login -- bash", "git commit -q --allow-empty -m 'meanwhile'")
    commit(e2e, "fix-login", "login.txt")
    expect(e2e.run("mngr pull fix-login --merge")).to_succeed()
    expect(e2e.cwd / "login.txt").to_contain("from the agent")
    assert len(git(e2e, "log", "-1", "--format=%p").split()) == 2


def test_a_merge_that_conflicts_leaves_the_checkout_as_it_was(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # and merged into what you have checked out
        mngr pull fix-login --merge
    """)
    given(e2e, "mngr create fix-login -- bash")
    commit(e2e, "fix-login", "README.md", "theirs")
    given(e2e, "echo mine >README.md && git commit -qam 'my own words'")
    result = e2e.run("mngr pull fix-login --merge")
    expect(result).to_fail()
    expect(result.stderr).to_contain("README.md")
    assert (e2e.cwd / "README.md").read_text() == "mine\n"
    assert git(e2e, "status", "--porcelain") == ""
    assert git(e2e, "log", "-1", "--format=%s", "mngr/fix-login") == "add README.md"


def test_a_fast_forward_moves_the_branch(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # only if nothing has to be merged
        mngr pull fix-login --ff-only
    """)
    given(e2e, "mngr create fix-login -- bash")
    commit(e2e, "fix-login", "login.txt")
    expect(e2e.run("mngr pull fix-login --ff-only")).to_succeed()
    assert git(e2e, "log", "--format=%s").splitlines() == ["add login.txt", "the first commit"]


def test_where_a_merge_is_needed_a_fast_forward_is_refused(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # only if nothing has to be merged
        mngr pull fix-login --ff-only
    """)
    given(e2e, "mngr create fix-login -- bash", "git commit -q --allow-empty -m 'meanwhile'")
    commit(e2e, "fix-login", "login.txt")
    result = e2e.run("mngr pull fix-login --ff-only")
    expect(result).to_have_exit_code(6)
    assert git(e2e, "log", "-1", "--format=%s") == "meanwhile"


def test_our_commits_are_put_on_top(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # and your own commits put on top of them, as git pull --rebase does
        mngr pull fix-login --rebase
    """)
    given(e2e, "mngr create fix-login -- bash", "git commit -q --allow-empty -m 'meanwhile'")
    commit(e2e, "fix-login", "login.txt")
    expect(e2e.run("mngr pull fix-login --rebase")).to_succeed()
    assert git(e2e, "log", "--format=%s").splitlines() == ["meanwhile", "add login.txt", "the first commit"]


def test_uncommitted_work_comes_home_too(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what it has not committed too
        mngr pull fix-login --include-dirty
    """)
    given(e2e, "mngr create fix-login --transfer mirror -- bash")
    inside(e2e, "fix-login", "echo unfinished >draft.txt; rm README.md")
    expect(e2e.run("mngr pull fix-login --include-dirty")).to_succeed()
    assert git(e2e, "show", "mngr/fix-login:draft.txt") == "unfinished"
    expect(e2e.run("git show mngr/fix-login:README.md")).to_fail()
    assert inside(e2e, "fix-login", "git status --porcelain") == " D README.md\n?? draft.txt\n"


def test_files_come_home_by_pattern(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # files instead of commits
        mngr pull fix-login --files 'build/*.log' --to logs
    """)
    given(e2e, "mngr create fix-login -- bash")
    inside(e2e, "fix-login", "mkdir build; echo a >build/a.log; echo b >build/b.log; echo c >build/c.bin")
    expect(e2e.run("mngr pull fix-login --files 'build/*.log' --to logs")).to_succeed()
    found = sorted(path.name for path in (e2e.cwd / "logs").rglob("*") if path.is_file())
    assert found == ["a.log", "b.log"]


def test_files_that_are_there_are_not_overwritten(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # files instead of commits
        mngr pull fix-login --files 'build/*.log' --to logs
    """)
    given(e2e, "mngr create fix-login -- bash")
    inside(e2e, "fix-login", "mkdir build; echo theirs >build/a.log")
    given(e2e, "mngr pull fix-login --files 'build/*.log' --to logs")
    inside(e2e, "fix-login", "echo newer >build/a.log")
    result = e2e.run("mngr pull fix-login --files 'build/*.log' --to logs")
    expect(result).to_have_exit_code(6)
    expect(result.stderr).to_contain("--overwrite")
    (kept,) = (e2e.cwd / "logs").rglob("a.log")
    assert kept.read_text() == "theirs\n"


def test_outboxes_come_home_by_agent(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what it put into its outbox, by agent
        mngr pull left right --outbox --to results
    """)
    script = 'echo "$MNGR_AGENT_NAME" >"$MNGR_OUTBOX/who.txt"; exec sleep 600'
    given(e2e, *(f"mngr create {name} -- sh -c '{script}'" for name in ("left", "right")))

    def came_home() -> None:
        expect(e2e.run("mngr pull left right --outbox --to results --overwrite")).to_succeed()
        for name in ("left", "right"):
            expect(e2e.cwd / "results" / name / "who.txt").to_contain(name)

    eventually(came_home)


def test_commits_and_files_go_to_the_agent(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # and the other way round: your new commits, or files, to the agent
        mngr push fix-login
        mngr push fix-login --files input.json
    """)
    given(e2e, "mngr create fix-login -- bash", "echo more >>README.md && git commit -qam 'more of it'")
    expect(e2e.run("mngr push fix-login")).to_succeed()
    assert inside(e2e, "fix-login", "git log -1 --format=%s; tail -n 1 README.md") == "more of it\nmore\n"
    (e2e.cwd / "input.json").write_text("{}\n")
    expect(e2e.run("mngr push fix-login --files input.json")).to_succeed()
    assert inside(e2e, "fix-login", "cat input.json") == "{}\n"


def test_a_push_that_would_lose_its_work_is_refused(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # and the other way round: your new commits, or files, to the agent
        mngr push fix-login
        mngr push fix-login --files input.json
    """)
    given(e2e, "mngr create fix-login -- bash", "echo more >>README.md && git commit -qam 'more of it'")
    commit(e2e, "fix-login", "own.txt")
    result = e2e.run("mngr push fix-login")
    expect(result).to_have_exit_code(6)
    assert inside(e2e, "fix-login", "git log -1 --format=%s") == "add own.txt\n"
