"""Which commits and files an agent begins with: branches, copies, other repositories, set-up."""

from pathlib import Path

import pytest
from tests.e2e.scene import agent, agents, commit, git, given, inside

from mngr_e2e import E2eSession, expect

pytestmark = [pytest.mark.slow, pytest.mark.e2e(record=False)]


def test_it_starts_from_the_branch_that_was_named(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # start from another branch, and name the new one yourself
        mngr create hotfix --branch release:fix/crash -- bash
    """)
    given(e2e, "git branch release", "git commit -q --allow-empty -m 'after the release'")
    expect(e2e.run("mngr create hotfix --branch release:fix/crash -- bash")).to_succeed()
    made = agent(e2e, "hotfix")
    assert made["branch"] == "fix/crash"
    assert made["base_commit"] == git(e2e, "rev-parse", "release") != git(e2e, "rev-parse", "main")
    assert inside(e2e, "hotfix", "git log -1 --format=%s") == "the first commit\n"


def test_a_branch_to_start_from_must_exist(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # start from another branch, and name the new one yourself
        mngr create hotfix --branch release:fix/crash -- bash
    """)
    result = e2e.run("mngr create hotfix --branch release:fix/crash -- bash")
    expect(result).to_fail()
    expect(result.stderr).to_contain("release")
    assert agents(e2e) == {}
    assert git(e2e, "branch", "--format=%(refname:short)") == "main"


def test_a_star_in_a_branch_is_the_agents_name(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a pattern for branches: * is the agent's name
        mngr create docs --branch ':ada/*' -- bash
    """)
    expect(e2e.run("mngr create docs --branch ':ada/*' -- bash")).to_succeed()
    assert agent(e2e, "docs")["branch"] == "ada/docs"
    assert "ada/docs" in git(e2e, "branch", "--format=%(refname:short)").split()


def test_a_branch_that_is_taken_gets_a_number(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a pattern for branches: * is the agent's name
        mngr create docs --branch ':ada/*' -- bash
    """)
    given(e2e, "git branch ada/docs")
    result = e2e.run("mngr create docs --branch ':ada/*' -- bash")
    expect(result).to_succeed()
    expect(result.stdout + result.stderr).to_contain("ada/docs-2")
    assert agent(e2e, "docs")["branch"] == "ada/docs-2"


def test_uncommitted_work_comes_along_when_asked(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # bring along what you have not committed yet
        mngr create careful --include-dirty -- bash
    """)
    (e2e.cwd / "README.md").write_text("half a sentence\n")
    (e2e.cwd / "new.txt").write_text("new\n")
    expect(e2e.run("mngr create careful --include-dirty -- bash")).to_succeed()
    assert inside(e2e, "careful", "cat README.md new.txt") == "half a sentence\nnew\n"
    assert git(e2e, "status", "--porcelain").splitlines() == ["M README.md", "?? new.txt"]


def test_uncommitted_work_that_stays_is_said(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # bring along what you have not committed yet
        mngr create careful --include-dirty -- bash
    """)
    (e2e.cwd / "README.md").write_text("half a sentence\n")
    result = e2e.run("mngr create careful -- bash")
    expect(result).to_succeed()
    expect(result.stdout).to_match("not brought along: 1 .*--include-dirty")
    assert inside(e2e, "careful", "cat README.md") != "half a sentence\n"


def test_a_mirror_is_a_repository_of_its_own(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a clone of its own instead of a worktree: what agents on other machines get, and it works here too
        mngr create alone --transfer mirror -- bash
    """)
    expect(e2e.run("mngr create alone --transfer mirror -- bash")).to_succeed()
    made = agent(e2e, "alone")
    assert (made["transfer"], made["branch"]) == ("mirror", "mngr/alone")
    expect(Path(made["work_dir"], ".git")).to_be_directory()
    commit(e2e, "alone", "there.txt")
    assert "mngr/alone" not in git(e2e, "branch", "--format=%(refname:short)").split()


def test_without_a_copy_it_works_right_here(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # no copy at all: right here, in your own checkout
        mngr create here --transfer none -- bash
    """)
    expect(e2e.run("mngr create here --transfer none -- bash")).to_succeed()
    inside(e2e, "here", "echo found >from-here.txt")
    expect(e2e.cwd / "from-here.txt").to_contain("found")
    given(e2e, "mngr destroy here --yes")
    expect(e2e.cwd / "from-here.txt").to_exist()
    expect(e2e.cwd / ".git").to_exist()


def test_a_folder_without_git_is_copied(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a folder that is no git repository is copied
        mngr create papers --from ~/papers --transfer copy -- bash
    """)
    papers = e2e.home / "papers"
    papers.mkdir()
    (papers / "first draft.txt").write_text("once upon a time\n")
    expect(e2e.run("mngr create papers --from ~/papers --transfer copy -- bash")).to_succeed()
    assert (
        inside(e2e, "papers", "cat 'first draft.txt'; echo changed >'first draft.txt'")
        == "once upon a time\n"
    )
    expect(papers / "first draft.txt").to_contain("once upon a time")


def test_another_repository_is_the_source(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # work on another repository than this one
        mngr create other --from ../other-project -- bash
    """)
    given(
        e2e, "git clone -q . ../other-project", "git -C ../other-project commit -q --allow-empty -m elsewhere"
    )
    expect(e2e.run("mngr create other --from ../other-project -- bash")).to_succeed()
    made = agent(e2e, "other")
    assert made["source"] == str(e2e.cwd.parent / "other-project")
    assert made["project"] == "other-project"
    assert inside(e2e, "other", "git log -1 --format=%s") == "elsewhere\n"


def test_a_source_that_is_not_there_is_named(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # work on another repository than this one
        mngr create other --from ../other-project -- bash
    """)
    result = e2e.run("mngr create other --from ../other-project -- bash")
    expect(result).to_fail()
    expect(result.stderr).to_contain("other-project")
    assert agents(e2e) == {}


def test_an_agent_begins_where_another_stands(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # begin where another agent stands now
        mngr create scout -- bash
        mngr create second --from scout -- bash
    """)
    expect(e2e.run("mngr create scout -- bash")).to_succeed()
    commit(e2e, "scout", "found.txt", "the way")
    expect(e2e.run("mngr create second --from scout -- bash")).to_succeed()
    assert inside(e2e, "second", "cat found.txt") == "the way\n"
    assert agent(e2e, "second")["branch"] == "mngr/second"


def test_it_works_in_the_directory_that_was_named(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # in a directory of your choice
        mngr create "placed:$HOME/placed" -- bash
    """)
    expect(e2e.run('mngr create "placed:$HOME/placed" -- bash')).to_succeed()
    assert agent(e2e, "placed")["work_dir"] == str(e2e.home / "placed")
    expect(e2e.home / "placed" / "README.md").to_be_file()


def test_a_directory_that_is_not_empty_is_left_alone(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # in a directory of your choice
        mngr create "placed:$HOME/placed" -- bash
    """)
    (e2e.home / "placed").mkdir()
    (e2e.home / "placed" / "mine.txt").write_text("mine\n")
    expect(e2e.run('mngr create "placed:$HOME/placed" -- bash')).to_fail()
    assert [path.name for path in (e2e.home / "placed").iterdir()] == ["mine.txt"]
    assert agents(e2e) == {}


def test_setup_comes_before_the_program(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # prepare the working copy first; when this fails, nothing is left behind
        mngr create ready --setup "cp config.example config" -- bash
    """)
    (e2e.cwd / "config.example").write_text("colour = blue\n")
    given(e2e, "git add . && git commit -q -m 'an example'")
    expect(e2e.run('mngr create ready --setup "cp config.example config" -- bash')).to_succeed()
    assert inside(e2e, "ready", "cat config") == "colour = blue\n"
    expect(e2e.cwd / "config").not_.to_exist()


def test_a_setup_that_fails_leaves_nothing(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # prepare the working copy first; when this fails, nothing is left behind
        mngr create ready --setup "cp config.example config" -- bash
    """)
    result = e2e.run('mngr create ready --setup "cp config.example config" -- bash')
    expect(result).to_fail()
    expect(result.stderr).to_contain("config.example")
    assert agents(e2e) == {}
    assert git(e2e, "branch", "--format=%(refname:short)") == "main"
    assert len(git(e2e, "worktree", "list").splitlines()) == 1


def test_files_that_git_does_not_know_are_put_there(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # put files into its working copy that git does not know
        mngr create briefed --upload plan.md:notes/plan.md -- bash
    """)
    (e2e.cwd / "plan.md").write_text("first this, then that\n")
    expect(e2e.run("mngr create briefed --upload plan.md:notes/plan.md -- bash")).to_succeed()
    assert inside(e2e, "briefed", "cat notes/plan.md") == "first this, then that\n"


def test_a_file_to_upload_must_be_there(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # put files into its working copy that git does not know
        mngr create briefed --upload plan.md:notes/plan.md -- bash
    """)
    result = e2e.run("mngr create briefed --upload plan.md:notes/plan.md -- bash")
    expect(result).to_fail()
    expect(result.stderr).to_contain("plan.md")
    assert agents(e2e) == {}
