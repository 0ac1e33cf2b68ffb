"""Every git of ours is built in one place, and so hardened alike."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from mngr_lib.git import git_argv, git_env

ROOT = Path(__file__).parent.parent
# These run beside an agent as programs of their own, as the agent, or play the user and the agent in a test.
_AGENTS_OWN = {
    "src/mngr/agents/scripted/program/player.py",
    "src/mngr_tmr/publish/program/config.py",
    "src/mngr/testing/transfers.py",
}
_BUILDER = "src/mngr_lib/git.py"
# Names of programs that are looked for, not run.
_NAMED = {"src/mngr/hosts/bootstrap.py", "src/mngr/actions/doctor.py"}


def git_literals(source: str) -> Iterator[int]:
    """Lines in which a list, a tuple or a call's arguments begin with the word "git"."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.List | ast.Tuple):
            first = node.elts[:1]
        elif isinstance(node, ast.Call):
            first = [] if "which" in ast.unparse(node.func) else node.args[:1]
        else:
            continue
        if first and isinstance(first[0], ast.Constant) and first[0].value == "git":
            yield node.lineno


@pytest.mark.accept("Q5", "Q11")
@pytest.mark.accept("H4")
def test_no_git_is_run_but_by_the_one_builder() -> None:
    """TH-M4."""
    found = [
        f"{name}:{line}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        if (name := str(path.relative_to(ROOT))) not in {*_AGENTS_OWN, *_NAMED, _BUILDER}
        and "/project/" not in name
        for line in git_literals(path.read_text())
    ]
    assert found == []


@pytest.mark.parametrize(
    "planted",
    [
        'run(["git", "status"])',
        'argv = ("git", *words)',
        'run((\n    "git",\n    "-C", folder))',
        'subprocess.run(["git"] + words)',
        'os.execlp("git", "git", "gc")',
    ],
)
def test_a_git_beside_the_builder_is_seen(planted: str) -> None:
    assert list(git_literals(planted))


def test_the_builder_puts_our_settings_before_those_given_and_both_before_the_command() -> None:
    argv = git_argv("-C", "/x", "status", settings=("core.bare=true",))
    assert argv[0] == "git"
    assert argv[-5:] == ("-c", "core.bare=true", "-C", "/x", "status")
    assert "core.hooksPath=/dev/null" in argv
    assert "core.fsmonitor=false" in argv


def test_a_repository_of_an_agents_gets_no_transport() -> None:
    assert "GIT_ALLOW_PROTOCOL" not in git_env()
    assert git_env({"A": "b"}, isolated=True)["GIT_ALLOW_PROTOCOL"] == "none"
    assert git_env({"A": "b"})["A"] == "b"
