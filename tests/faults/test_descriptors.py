"""Few open files: every line gets its own answer, and nothing runs that no line names."""

import json
import os
import subprocess
import sys

import pytest
from tests.support.world import World

import mngr
from mngr.testing.waiting import PATIENCE_S

LINES = 12
CREATE = ("create", "-", "-j", "30", "--transfer", "none", "--json", "--", "sleep", "1000")
EXHAUST = """
import os, resource
from mngr.errors import MngrError
from mngr.process import run
resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
taken = []
try:
    while True:
        taken.append(os.dup(0))
except OSError:
    pass
try:
    run(["true"])
except MngrError as error:
    print(error.message, "|", error.hint)
"""


@pytest.mark.accept("Q15")
def test_many_creations_with_few_descriptors_are_all_answered(world: World) -> None:
    """`ulimit -n 64` with `create - -j 30`: exit 1, no line, 10 agents running."""
    limited = ("sh", "-c", 'ulimit -n 64; exec "$@"', "sh", sys.executable, "-m", "mngr", *CREATE)
    done = subprocess.run(
        limited,
        input="".join(f"a{number}\n" for number in range(LINES)),
        text=True,
        cwd=world.repo,
        env={**world.env, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        timeout=PATIENCE_S * 2,
        check=False,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(answer["name"] for answer in answers) == sorted(f"a{number}" for number in range(LINES)), (
        done
    )
    running = {agent.name for agent in mngr.list_agents(manager=world.manager()).agents}
    assert running == {answer["name"] for answer in answers if "error" not in answer}
    assert (done.returncode, len(running)) == (0, LINES), done.stderr


@pytest.mark.accept("K16")
def test_no_descriptor_left_is_an_error_that_says_what_to_raise() -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", EXHAUST], env=env, text=True, capture_output=True, check=True
    )
    assert done.stdout.startswith(
        "cannot run true: Too many open files | raise the limit of open files (ulimit -n)"
    )
