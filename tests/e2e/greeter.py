"""A small project with a tutorial and tests that cite it, made in the repository of a test."""

import json

from tests.e2e.scene import given

from mngr_e2e import E2eSession

PROGRAM = """\
#!/bin/sh
case "${1-}" in
  --help) echo "usage: greet [NAME]"; echo "  --loud  in capitals" ;;
  *) echo "hello ${1:-world}" ;;
esac
"""
TUTORIAL = """\
#!/bin/sh

## Greeting

# greet the world
./greet

# greet somebody
./greet Ada

# Greeting several people at once
"""
TESTS = '''\
from mngr_e2e import E2eSession, expect

ROOT = __file__.rpartition("/tests/")[0]


def test_world(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # greet the world
        ./greet
    """)
    expect(e2e.run("./greet", cwd=ROOT).stdout).to_equal("hello world\\n")


def test_somebody(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # greet somebody
        ./greet Ada
    """)
    expect(e2e.run("./greet Ada", cwd=ROOT).stdout).to_equal("hello Ada\\n")
'''
LOOK = [
    {"run": "mngr-result try 'as I found it'"},
    {"run": "mngr-result write --outcome unchanged --summary 'It passes and says what it should.'"},
    {"exit": 0},
]


def make_project(e2e: E2eSession) -> None:
    """Fills the test's repository with the project, committed, and a playbook that is not."""
    (e2e.cwd / "tests").mkdir()
    (e2e.cwd / "greet").write_text(PROGRAM)
    (e2e.cwd / "greet").chmod(0o755)
    (e2e.cwd / "tutorial.sh").write_text(TUTORIAL)
    (e2e.cwd / "tests" / "test_greet.py").write_text(TESTS)
    (e2e.cwd / ".gitignore").write_text("__pycache__/\n.pytest_cache/\n")
    given(e2e, "git add . && git commit -q -m 'a program that greets'")
    (e2e.cwd / "playbook.json").write_text(json.dumps(LOOK))
