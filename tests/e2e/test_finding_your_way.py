"""The first minutes: what there is, what is missing, and one agent from its beginning to its end."""

import pytest
from tests.e2e.scene import agents, git

from mngr_e2e import E2eSession, expect


def test_help_names_every_verb(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what can it do? these other commands are covered in their own sections below
        mngr --help
    """)
    result = e2e.run("mngr --help", comment="what can it do?")
    expect(result).to_succeed()
    expect(result.stdout).to_contain("Usage")
    verbs = (
        "create list connect message wait exec capture transcript events pull push stop start destroy rename "
        "label clone snapshot usage gc cleanup config plugin doctor completion help tutorial e2e tmr"
    )
    for verb in verbs.split():
        expect(result.stdout).to_match(rf"^ +{verb} +\w")


def test_an_unknown_verb_says_the_nearest_one(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what can it do? these other commands are covered in their own sections below
        mngr --help
    """)
    expect(e2e.run("mngr --help")).to_succeed()
    result = e2e.run("mngr crate foo")
    expect(result).to_have_exit_code(2)
    expect(result.stderr).to_contain('did you mean "create"')


def test_the_version_is_a_number(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # which version is this?
        mngr --version
    """)
    expect(e2e.run("mngr --version").stdout).to_match(r"^mngr \d+\.\d+\.\d+$")


def test_doctor_finds_what_agents_need(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # is anything missing on this machine? each finding comes with the command that fixes it
        mngr doctor
    """)
    result = e2e.run("mngr doctor", comment="is anything missing?")
    expect(result).to_succeed()
    expect(result.stdout).to_match(r"^ok +tmux: \d")
    expect(result.stdout).to_match(r"^ok +git: \d")


def test_doctor_says_how_to_mend_a_missing_tmux(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # is anything missing on this machine? each finding comes with the command that fixes it
        mngr doctor
    """)
    programs = e2e.home / "bin"
    programs.mkdir()
    for name in ("sh", "git", "mngr", "uname"):
        path = e2e.run(f"command -v {name}").stdout.strip()
        (programs / name).symlink_to(path)
    result = e2e.run("mngr doctor", env={"PATH": str(programs)})
    expect(result).to_have_exit_code(1)
    expect(result.stdout).to_match(r"tmux: not installed.*\n +fix: .*tmux")


def test_help_on_a_command_and_on_a_topic(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # help on a command comes with examples; there is also help on topics
        mngr help create
        mngr help address
    """)
    on_create = e2e.run("mngr help create", comment="help on a command comes with examples")
    expect(on_create).to_succeed()
    expect(on_create.stdout).to_contain("mngr create foo -- bash")
    expect(on_create.stdout).to_equal(e2e.run("mngr create --help").stdout)
    on_address = e2e.run("mngr help address", comment="there is also help on topics")
    expect(on_address).to_succeed()
    expect(on_address.stdout).to_contain("foo@box")


def test_help_on_nothing_we_know_says_what_there_is(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # help on a command comes with examples; there is also help on topics
        mngr help create
        mngr help address
    """)
    result = e2e.run("mngr help adress")
    expect(result).to_have_exit_code(2)
    expect(result.stderr).to_contain('did you mean "address"')


@pytest.mark.accept("Z1")
def test_an_agent_from_beginning_to_end(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the whole of it in three lines: start a program in a working copy of its own, look at it, remove it
        mngr create hello -- sleep 600
        mngr list
        mngr destroy hello --yes
    """)
    expect(e2e.run("mngr create hello -- sleep 600", comment="start a program")).to_succeed()
    expect(e2e.run("mngr list", comment="look at it").stdout).to_match(
        r"^hello +RUNNING +command +mngr/hello"
    )
    work_dir = agents(e2e)["hello"]["work_dir"]
    expect(e2e.run("mngr destroy hello --yes", comment="remove it")).to_succeed()
    assert agents(e2e) == {}
    assert git(e2e, "branch", "--format=%(refname:short)") == "main"
    expect(e2e.run(f"test -e {work_dir}")).to_fail()


def test_without_a_yes_nothing_is_destroyed(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # the whole of it in three lines: start a program in a working copy of its own, look at it, remove it
        mngr create hello -- sleep 600
        mngr list
        mngr destroy hello --yes
    """)
    e2e.run("mngr create hello -- sleep 600")
    result = e2e.run("mngr destroy hello")
    expect(result).to_have_exit_code(6)
    expect(result.stderr).to_contain("--yes")
    assert agents(e2e)["hello"]["state"] == "RUNNING"
