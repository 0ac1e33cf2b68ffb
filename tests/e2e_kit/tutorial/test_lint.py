"""A test runs a command of its block, or the lint says so."""

import pytest

from mngr_e2e.tutorial.blocks import read_blocks
from mngr_e2e.tutorial.lint import known_verbs, runs_a_command_of, simple_commands
from mngr_e2e.tutorial.literals import HOLE


def is_run(tutorial: str, *runs: str | None) -> bool:
    blocks = read_blocks(tutorial)
    return runs_a_command_of(blocks[0], runs, known_verbs(blocks))


@pytest.mark.accept("Y14")
@pytest.mark.parametrize(
    ("block", "run"),
    [
        ("mngr create foo", "mngr create bar --type command"),
        ("mngr create foo -m x", "X=1 mngr create bar && echo"),
        ("mngr --help", "mngr --help"),
        ("mngr create --help", "mngr create --help"),
        ("mngr snapshot create my-snapshot", "mngr snapshot create other"),
        ("mngr list | grep foo", "mngr list --json"),
        ("cd x\nmngr list", "cd y; mngr list"),
        ("mngr list", f"{HOLE} list"),
        ("mngr snapshot create x", f"mngr snapshot {HOLE} x"),
        ("mngr list", f"mngr {HOLE}"),
        ("mngr list", "/usr/bin/mngr list"),
        ("mngr list", "python3 -m mngr list"),
        ("mngr message foo <<EOF\nrm x\nEOF", "echo hi | mngr message foo"),
        ("if mngr list; then echo; fi", "mngr list"),
        ("ls -la", "ls some/where"),
    ],
)
def test_the_same_program_and_subcommand_count(block: str, run: str) -> None:
    assert is_run(block, "echo", run)


@pytest.mark.accept("Y14")
@pytest.mark.parametrize(
    ("block", "run"),
    [
        ("mngr create foo", "mngr create --help"),
        ("mngr create foo", "mngr list"),
        ("mngr create foo", "mngr"),
        ("mngr --help", "mngr list"),
        ("mngr snapshot create x", "mngr snapshot list"),
        ("mngr snapshot create x", "mngr snapshot"),
        ("cd x\nmngr list", "cd x"),
        ("mngr list", "echo mngr list"),
        ("mngr list", "true 'unclosed"),
        ("mngr message foo <<EOF\nrm x\nEOF", "rm x"),
    ],
)
def test_a_proxy_does_not_count(block: str, run: str) -> None:
    assert not is_run(block, run)


@pytest.mark.accept("Y14")
def test_no_run_at_all_is_flagged_and_an_unknown_run_is_believed() -> None:
    assert not is_run("mngr list")
    assert is_run("mngr list", "true", None)


@pytest.mark.accept("A8", "Y14")
@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("mngr list  # who is there; and what | is it?", [["mngr", "list"]]),
        ("mngr list # one; two\nmngr gc", [["mngr", "list"], ["mngr", "gc"]]),
        ("mngr create a#b '#c' \"d # e\"", [["mngr", "create", "a#b", "#c", "d # e"]]),
        ("mngr create 'x\n# y; z' b", [["mngr", "create", "x ; # y; z", "b"]]),
    ],
)
def test_a_comment_after_a_command_is_no_command(command: str, found: list[list[str]]) -> None:
    assert simple_commands(command) == found
