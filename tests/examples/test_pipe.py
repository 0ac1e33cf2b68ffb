"""The whole loop as one shell pipe of verbs, on the bundled example with scripted agents."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.needs import needs
from tests.support.world import World

from mngr.process import Completed, OnlyEnv, run
from mngr_tmr.example.make import Example, make_example
from mngr_tmr.model.integration import Integration
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.run_folder.folder import RunFolder, read_json
from mngr_tmr.run_folder.records import Records

pytestmark = pytest.mark.slow

PIPE = Path(__file__).parents[2] / "examples/pipe.sh"
# A fix, a test that was wrong, an agent that is blocked, one that is killed, one that changes nothing.
TESTS = (
    "test_add_keeps_the_amount",
    "test_list_shows_everything",
    "test_sync_reaches_the_server",
    "test_export_writes_a_file",
    "test_version_is_told",
)


class Piped:
    """The example's repository and a shell in it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.example: Example = make_example(str(world.folder / "pantry"))
        world.env["PATH"] = f"{Path(sys.executable).parent}:{world.env['PATH']}"
        world.env["GIT_CONFIG_GLOBAL"] = "/dev/null"

    def sh(self, script: str, *words: str, **env: str) -> Completed:
        around = OnlyEnv({**self.world.env, **env})
        return run(["sh", "-c", script, "sh", *words], cwd=self.example.repo, env=around, timeout_s=600)

    def records(self, run: str) -> dict[str, TaskRecord]:
        found = Records(self.folder(run)).tasks()
        return {record.task.node_id.rpartition("::")[2]: record for record in found}

    def folder(self, run: str) -> RunFolder:
        return RunFolder(os.path.join(self.example.repo, ".mngr", "tmr", run))


@pytest.fixture
def piped(tmp_path: Path) -> Iterator[Piped]:
    needs("tmux", "tmux", "-V")
    world = World(tmp_path)
    yield Piped(world)
    world.end()


@pytest.mark.accept("K2", "X1", "X4", "L6", "P2", "P4", "M14", "R8")
def test_one_pipe_of_verbs_is_the_whole_loop(piped: Piped) -> None:
    words = ("tests", "--name", "night", "--arg", piped.example.play_arg, "--", "-k", " or ".join(TESTS))
    done = piped.sh('exec "$0" "$@"'.replace("$0", str(PIPE)), *words, TYPE="scripted", SLOTS="3")
    assert done.code == 3, done.complaint
    records = piped.records("night")
    assert set(records) == set(TESTS)
    assert {name: record.end for name, record in records.items()} == {
        **dict.fromkeys(TESTS, "result"),
        "test_export_writes_a_file": "failed",
    }
    killed = records["test_export_writes_a_file"]
    assert killed.message == "the agent ended without a result: killed by SIGKILL"
    fixed = records["test_add_keeps_the_amount"]
    assert fixed.before is not None
    assert fixed.after is not None
    assert (fixed.before.verdict, fixed.after.verdict) == ("failed", "passed")
    integration = read_json(piped.folder("night").integration, Integration)
    assert {account.task for account in integration.accounts} == {
        record.task.slug for record in records.values()
    }
    log = piped.world.git("log", "--format=%s", f"main..{integration.branch}", cwd=Path(piped.example.repo))
    assert "Store the amount that was asked for" in log
    assert os.path.isfile(piped.folder("night").report)
    assert os.path.isfile(os.path.join(killed.folder, "recording.cast"))
    states = piped.sh("mngr list --format '{state}'").text.split()
    assert len(states) == len(TESTS)
    assert set(states) <= {"STOPPED", "DONE"}


@pytest.mark.accept("K2", "P4", "P9", "R6")
def test_what_fails_on_the_way_is_a_row_and_agents_may_be_gone_by_the_end(piped: Piped) -> None:
    plays = piped.world.folder / "plays"
    plays.mkdir()
    shutil.copy(os.path.join(piped.example.plays, f"{TESTS[0]}.json"), plays)
    pipe = """
        mngr tmr collect tests --name night --arg "$1/{test}.json" -- -k "$2" | mngr create - --type scripted |
        mngr wait - | mngr pull - --outbox --to results | mngr pull - | mngr destroy - --yes >lines
        { cat lines; echo no line of ours; } | mngr tmr integrate - 2>said
    """
    done = piped.sh(pipe, str(plays), f"{TESTS[0]} or {TESTS[1]}")
    said = Path(piped.example.repo, "said").read_text()
    assert done.code == 3, said
    assert "line 3 belongs to no test of a run" in said
    records = piped.records("night")
    fixed, lost = records[TESTS[0]], records[TESTS[1]]
    assert fixed.after is not None
    assert fixed.after.verdict == "passed"
    assert "its agent is gone" in fixed.notes
    assert (lost.end, lost.stage) == ("failed", "launch")
    assert f"{TESTS[1]}.json" in lost.message
    log = piped.world.git("log", "--format=%s", "main..tmr/night/integrated", cwd=Path(piped.example.repo))
    assert log == "Store the amount that was asked for\n"
