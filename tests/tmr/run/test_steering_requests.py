"""A run with real agents is steered from another terminal, and holds to that after its process was killed."""

import time

import pytest
from msgspec.structs import replace
from tests.cli.command import Mngr
from tests.tmr.run.lives import launched, orchestrator
from tests.tmr.run.pipeline import KNOBS, UNCHANGED, Pipeline

from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S
from mngr_tmr.engine.journal import read_journal
from mngr_tmr.model.facts import RunSteered
from mngr_tmr.run_folder.folder import RunFolder
from mngr_tmr.run_folder.requests import make_request, waiting_requests

pytestmark = [pytest.mark.slow, pytest.mark.accept("O20")]

# A request is taken in a quarter of a second; this holds on a busy machine.
_SOON_S = 5.0


def steered(folder: RunFolder) -> dict[str, float]:
    """What was asked, and how long each request waited for the journal."""
    return {
        entry.fact.action: entry.at - int(entry.fact.request[:19]) / 1e9
        for entry in read_journal(folder.journal)
        if isinstance(entry.fact, RunSteered)
    }


def test_another_terminal_pauses_sets_cancels_and_tries_again_also_after_a_kill(pipeline: Pipeline) -> None:
    go = pipeline.world.folder / "go"
    wait = {"run": f"while [ ! -e {go} ]; do sleep 0.1; done"}
    plays = {f"test_{name}": [wait, UNCHANGED] for name in ("a", "b", "c")}
    folder = pipeline.folder(pipeline.spec(plays, replace(KNOBS, slots=1)))
    mngr = Mngr(pipeline.world)
    with orchestrator(pipeline) as child:
        assert wait_until(lambda: launched(folder) == 1 or child.poll() is not None, PATIENCE_S)
        assert "paused by" in mngr.ok("tmr", "pause").stdout
        again = mngr("tmr", "pause")
        assert (again.code, "it is paused already, by" in again.stderr) == (6, True)
        assert "paused by" in mngr.ok("tmr", "status").stdout
        assert mngr.ok("tmr", "status", "--json").json["paused_s"] >= 0
        assert "slots 1 → 2, set by" in mngr.ok("tmr", "set", "slots=2").stdout
        assert launched(folder) == 1
    dead = mngr("tmr", "set", "slots=3")
    assert (dead.code, "mngr tmr resume r1 takes the same as options" in dead.stderr) == (6, True)
    make_request(folder, RunSteered("", "set", "ann@desk", {"timeout_s": 100.0}))
    with orchestrator(pipeline) as child:
        assert wait_until(lambda: launched(folder) >= 2 or child.poll() is not None, PATIENCE_S)
        assert "cancelled by" in mngr.ok("tmr", "cancel", "test_c").stdout
        assert "tried again" in mngr.ok("tmr", "retry", "r1", "test_c").stdout
        go.touch()
        assert child.wait(PATIENCE_S) == 0
    assert {record.end for record in pipeline.records(folder).values()} == {"result"}
    assert pipeline.records(folder)["test_c"].attempt == 2
    found = steered(folder)
    assert set(found) == {"pause", "set", "cancel", "retry"}
    assert max(found[name] for name in ("pause", "cancel", "retry")) < _SOON_S, found
    assert waiting_requests(folder, time.time()) == []
    over = mngr("tmr", "pause", "r1")
    assert over.code == 6
    assert "no process is at work on run r1" in over.stderr
