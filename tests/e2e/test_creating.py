"""Creating agents: names, types, first messages, and what else can be said at birth."""

import json
from pathlib import Path

import pytest
from tests.e2e.scene import agent, agents, git, given, inside

from mngr_e2e import E2eSession, eventually, expect

pytestmark = [pytest.mark.slow, pytest.mark.e2e(record=False)]


def test_an_agent_has_a_worktree_and_a_branch_of_its_own(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # an agent works in a git worktree of its own, on branch mngr/NAME; your checkout stays as it is
        mngr create fix-login -- bash
    """)
    result = e2e.run("mngr create fix-login -- bash", comment="an agent works in a worktree of its own")
    expect(result).to_succeed()
    made = agent(e2e, "fix-login")
    assert (made["state"], made["type"], made["branch"]) == ("RUNNING", "command", "mngr/fix-login")
    assert made["work_dir"] in git(e2e, "worktree", "list")
    assert inside(e2e, "fix-login", "cat README.md") == (e2e.cwd / "README.md").read_text()
    assert git(e2e, "rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert git(e2e, "status", "--porcelain") == ""


def test_a_name_that_is_taken_is_refused(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # an agent works in a git worktree of its own, on branch mngr/NAME; your checkout stays as it is
        mngr create fix-login -- bash
    """)
    given(e2e, "mngr create fix-login -- bash")
    before = agent(e2e, "fix-login")
    result = e2e.run("mngr create fix-login -- bash")
    expect(result).to_fail()
    expect(result.stderr).to_contain("fix-login")
    assert agents(e2e) == {"fix-login": before}


def test_a_program_that_does_not_exist_leaves_nothing(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # an agent works in a git worktree of its own, on branch mngr/NAME; your checkout stays as it is
        mngr create fix-login -- bash
    """)
    result = e2e.run("mngr create fix-login -- bsah")
    expect(result).to_fail()
    expect(result.stderr).to_contain("bsah")
    assert all(record["state"] == "DONE" for record in agents(e2e).values())


def test_outside_a_repository_it_says_what_to_do(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # an agent works in a git worktree of its own, on branch mngr/NAME; your checkout stays as it is
        mngr create fix-login -- bash
    """)
    result = e2e.run("mngr create fix-login --transfer worktree -- bash", cwd=e2e.home)
    expect(result).to_fail()
    expect(result.stderr).to_contain("hint: ")
    assert agents(e2e) == {}


def test_a_name_is_made_up(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # it needs no name: it gets one of readable words
        mngr create -- sleep 600
    """)
    expect(e2e.run("mngr create -- sleep 600")).to_succeed()
    given(e2e, "mngr create -- sleep 600")
    names = sorted(agents(e2e))
    assert len(names) == 2
    for name in names:
        expect(name).to_match(r"^[a-z]+-[a-z]+$")
    expect(git(e2e, "branch")).to_contain(f"mngr/{names[0]}")


def test_a_coding_agent_takes_its_first_message(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a coding agent is a type; claude, codex and opencode are real ones, scripted is a stand-in that costs nothing
        mngr create writer scripted -m "write the docs"
    """)
    expect(e2e.run('mngr create writer scripted -m "write the docs"')).to_succeed()
    given(e2e, "mngr wait writer --timeout 20s")
    made = agent(e2e, "writer")
    assert (made["type"], made["state"], made["waiting_reason"]) == ("scripted", "WAITING", "end_of_turn")
    said = e2e.run("mngr transcript writer --format '{role}: {text}'").stdout
    expect(said).to_contain_lines("user: write the docs", "agent: You said: write the docs")


def test_an_unknown_type_says_the_nearest(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a coding agent is a type; claude, codex and opencode are real ones, scripted is a stand-in that costs nothing
        mngr create writer scripted -m "write the docs"
    """)
    result = e2e.run('mngr create writer scriptd -m "write the docs"')
    expect(result).to_have_exit_code(2)
    expect(result.stderr).to_contain('did you mean "scripted"')
    assert agents(e2e) == {}


def test_a_first_message_from_a_file(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a first message that grew too long for the command line
        mngr create writer scripted --message-file task.md
    """)
    task = "".join(
        f"{number}. look at file number {number}, $(id) and `date` included\n" for number in range(60)
    )
    (e2e.cwd / "task.md").write_text(task)
    expect(e2e.run("mngr create writer scripted --message-file task.md")).to_succeed()
    turn = json.loads(e2e.run("mngr transcript writer --role user --format jsonl").stdout)
    assert turn["text"] == task


def test_a_message_file_that_is_missing_makes_no_agent(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a first message that grew too long for the command line
        mngr create writer scripted --message-file task.md
    """)
    result = e2e.run("mngr create writer scripted --message-file task.md")
    expect(result).to_have_exit_code(2)
    expect(result.stderr).to_contain("task.md")
    assert agents(e2e) == {}


def test_connect_takes_you_to_its_terminal(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # be taken to its terminal at once
        mngr create pair --connect -- bash
    """)
    terminal = e2e.terminal("mngr create pair --connect -- bash")
    terminal.type("echo $((6 * 7)) is the answer\n")
    expect(terminal).to_show("42 is the answer", timeout_s=90)
    terminal.keys("C-q")
    expect(terminal).to_have_ended(0, timeout_s=90)
    assert agent(e2e, "pair")["state"] == "RUNNING"


def test_variables_reach_the_program_as_they_are(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # variables: given here, from a file, or handed on from your shell; no shell ever evaluates them
        mngr create server --env PORT=8080 --env-file .env --pass-env EDITOR -- sleep 600
    """)
    (e2e.cwd / ".env").write_text("GREETING=hello $(id)\n# a comment\nPORT=1\n")
    command = "mngr create server --env PORT=8080 --env-file .env --pass-env EDITOR -- sleep 600"
    expect(e2e.run(command, env={"EDITOR": "ed"})).to_succeed()
    said = inside(e2e, "server", 'printf "%s|%s|%s" "$PORT" "$GREETING" "$EDITOR"')
    expect(said).to_equal("8080|hello $(id)|ed")


def test_a_variable_that_is_not_set_cannot_be_handed_on(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # variables: given here, from a file, or handed on from your shell; no shell ever evaluates them
        mngr create server --env PORT=8080 --env-file .env --pass-env EDITOR -- sleep 600
    """)
    result = e2e.run("unset EDITOR; mngr create server --pass-env EDITOR -- sleep 600")
    expect(result).to_have_exit_code(2)
    expect(result.stderr).to_contain("EDITOR")
    assert agents(e2e) == {}


def test_labels_and_a_project_find_it(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # labels and a project, to find it by
        mngr create nightly --label task=docs --label batch=7 --project website -- sleep 600
    """)
    given(e2e, "mngr create noise -- sleep 600")
    expect(
        e2e.run("mngr create nightly --label task=docs --label batch=7 --project website -- sleep 600")
    ).to_succeed()
    assert agent(e2e, "nightly")["labels"] == {"task": "docs", "batch": "7"}
    for words in ("--label task=docs", "--label batch", "--project website"):
        expect(e2e.run(f"mngr list {words} --format '{{name}}'").stdout).to_equal("nightly\n")


def test_a_second_window_runs_beside_it(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a second window in its session, for a log or a server
        mngr create web -w log="tail -F server.log" -- bash
    """)
    expect(e2e.run('mngr create web -w log="tail -F server.log" -- bash')).to_succeed()
    made = agent(e2e, "web")
    socket = made["attach"][made["attach"].index("-S") + 1]
    windows = e2e.run(f"tmux -S {socket} list-windows -t ={made['session']} -F '#{{window_name}}'")
    expect(windows.stdout).to_contain_lines("log")
    inside(e2e, "web", "echo started >>server.log")
    shown = f"tmux -S {socket} capture-pane -p -t ={made['session']}:log"
    eventually(lambda: expect(e2e.run(shown).stdout).to_contain("started"))


def test_in_the_foreground_lines_and_exit_code_are_ours(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # run something to its end: its lines are shown, and its exit code is ours
        mngr create check --foreground -- sh -c 'grep -c repository README.md'
    """)
    result = e2e.run("mngr create check --foreground -- sh -c 'grep -c repository README.md'")
    expect(result).to_succeed()
    expect(result.stdout).to_equal("1\n")
    assert (agent(e2e, "check")["state"], agent(e2e, "check")["exit_code"]) == ("DONE", 0)


def test_in_the_foreground_a_failure_is_a_failure(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # run something to its end: its lines are shown, and its exit code is ours
        mngr create check --foreground -- sh -c 'grep -c repository README.md'
    """)
    result = e2e.run("mngr create check --foreground -- sh -c 'grep -c elephants README.md; exit 9'")
    expect(result).to_have_exit_code(9)
    assert agent(e2e, "check")["exit_code"] == 9


def test_a_recording_is_an_asciicast_of_its_screen(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # record its terminal, and keep the recording as an asciicast
        mngr create filmed --record -- sh -c 'echo action; sleep 600'
        mngr capture filmed --cast > filmed.cast
    """)
    given(e2e, "mngr create filmed --record -- sh -c 'echo action; sleep 600'")

    def is_whole() -> None:
        expect(e2e.run("mngr capture filmed --cast > filmed.cast")).to_succeed()
        expect(e2e.cwd / "filmed.cast").to_contain("action")

    eventually(is_whole)
    head = json.loads((e2e.cwd / "filmed.cast").read_text().splitlines()[0])
    assert head["version"] == 2


def test_without_a_recording_there_is_no_cast(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # record its terminal, and keep the recording as an asciicast
        mngr create filmed --record -- sh -c 'echo action; sleep 600'
        mngr capture filmed --cast > filmed.cast
    """)
    given(e2e, "mngr create filmed -- sh -c 'echo action; sleep 600'")
    result = e2e.run("mngr capture filmed --cast > filmed.cast")
    expect(result).to_fail()
    expect(result.stderr).to_contain("--record")


def test_reuse_takes_the_one_that_is_there(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # take the agent of that name if there is one
        mngr create helper --reuse -- sleep 600
        mngr create helper --reuse -- sleep 600
    """)
    given(e2e, "mngr create helper --reuse -- sleep 600")
    first = agent(e2e, "helper")
    again = e2e.run("mngr create helper --reuse --json -- sleep 600")
    expect(again.stdout).to_be_json().to_have("changed", False)
    assert agents(e2e) == {"helper": first}


def test_reuse_starts_one_that_was_stopped(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # take the agent of that name if there is one
        mngr create helper --reuse -- sleep 600
        mngr create helper --reuse -- sleep 600
    """)
    given(e2e, "mngr create helper --reuse -- sleep 600", "mngr stop helper")
    expect(e2e.run("mngr create helper --reuse -- sleep 600")).to_succeed()
    assert agent(e2e, "helper")["state"] == "RUNNING"


def test_a_dry_run_makes_nothing(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # what would it do?
        mngr create someday --dry-run -- sleep 600
    """)
    result = e2e.run("mngr create someday --dry-run -- sleep 600", comment="what would it do?")
    expect(result).to_succeed()
    expect(result.stdout).to_match("^Would create someday .*sleep 600")
    assert agents(e2e) == {}
    assert git(e2e, "branch", "--format=%(refname:short)") == "main"


def test_a_template_brings_its_options(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # options that you often use together: a template
        mngr config set templates.review.label kind=review
        mngr create judge -t review -- bash
    """)
    expect(e2e.run("mngr config set templates.review.label kind=review")).to_succeed()
    expect(e2e.run("mngr create judge -t review -- bash")).to_succeed()
    assert agent(e2e, "judge")["labels"] == {"kind": "review"}


def test_an_unknown_template_is_named(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # options that you often use together: a template
        mngr config set templates.review.label kind=review
        mngr create judge -t review -- bash
    """)
    given(e2e, "mngr config set templates.review.label kind=review")
    result = e2e.run("mngr create judge -t reveiw -- bash")
    expect(result).to_have_exit_code(2)
    expect(result.stderr).to_contain('did you mean "review"')


def test_any_program_can_be_a_type(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # a type of your own, from any program
        mngr config set agent_types.calculator.command "python3 -i -q"
        mngr create sums calculator
    """)
    expect(e2e.run('mngr config set agent_types.calculator.command "python3 -i -q"')).to_succeed()
    expect(e2e.run("mngr create sums calculator")).to_succeed()
    assert agent(e2e, "sums")["type"] == "calculator"
    given(e2e, "mngr message sums -m 'print(6 * 7, \"is it\")'")
    eventually(lambda: expect(e2e.run("mngr capture sums").stdout).to_contain("42 is it"))


def test_a_connect_command_runs_instead_of_attaching(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # let a program of yours open the terminal, such as a new window of your editor
        mngr create tab --connect-command 'echo "opening $MNGR_SESSION_NAME"' -- bash
    """)
    command = "mngr create tab --connect-command 'echo \"opening $MNGR_SESSION_NAME\"' -- bash"
    result = e2e.run(command)
    expect(result).to_succeed()
    expect(result.stdout).to_contain(f"opening {agent(e2e, 'tab')['session']}\n")


@pytest.mark.e2e(record=True)
def test_what_is_created_is_recorded_beside_the_transcript(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # an agent works in a git worktree of its own, on branch mngr/NAME; your checkout stays as it is
        mngr create fix-login -- bash
    """)
    expect(e2e.run("mngr create fix-login -- bash")).to_succeed()
    given(e2e, "mngr message fix-login -m 'echo so it is recorded'")
    casts = Path(e2e.artifacts, "casts")

    def is_recorded() -> None:
        assert any("so it is recorded" in cast.read_text() for cast in casts.glob("*.cast"))

    eventually(is_recorded, timeout_s=90)
