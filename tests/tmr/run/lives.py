"""Orchestrators of a run as processes of their own, that can be killed and frozen, and downtime between them."""

import contextlib
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace
from tests.cli.command import ARGV, Mngr
from tests.tmr.run.pipeline import Pipeline

import mngr
from mngr.process import wait_until
from mngr_tmr.engine.journal import read_journal
from mngr_tmr.run.polling import agents_of
from mngr_tmr.run_folder.folder import RunFolder, read_spec

LIFE_S = 300.0


@contextlib.contextmanager
def orchestrator(pipeline: Pipeline) -> Iterator[subprocess.Popen[bytes]]:
    """`mngr tmr resume r1`, ended with KILL at the end of the block."""
    child = subprocess.Popen(
        [*ARGV, "tmr", "resume", "r1", "--integrator", "mechanical"],
        cwd=pipeline.project.repo,
        env=Mngr(pipeline.world).env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def live_to_the_end(pipeline: Pipeline) -> None:
    with orchestrator(pipeline) as child:
        _, said = child.communicate(timeout=LIFE_S)
    assert child.returncode in (0, 8), said.decode()


def kill_when(pipeline: Pipeline, condition: Callable[[], bool], later_s: float = 0.0) -> None:
    """One life of the orchestrator, ended with KILL a while after the condition holds."""
    with orchestrator(pipeline) as child:
        assert wait_until(lambda: condition() or child.poll() is not None, LIFE_S)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(later_s)


def length(folder: RunFolder) -> int:
    """How many entries the journal has."""
    return Path(folder.journal).read_bytes().count(b"\n") if os.path.exists(folder.journal) else 0


def launched(folder: RunFolder) -> int:
    """How many agents the journal says were launched."""
    if not os.path.exists(folder.journal):
        return 0
    return sum((entry.step, entry.kind) == ("launch", "done") for entry in read_journal(folder.journal))


def be_down(folder: RunFolder, seconds: float) -> None:
    """Makes the past of the run so much older, as if its orchestrator had been away for that time.

    With a negative number its past is in the future: the clock was set back.
    """
    spec = read_spec(folder)
    folder.writer.write_json(folder.spec, replace(spec, created_at=spec.created_at - seconds))
    lines = [
        msgspec.json.encode(replace(entry, at=entry.at - seconds)) for entry in read_journal(folder.journal)
    ]
    Path(folder.journal).write_bytes(b"".join(line + b"\n" for line in lines))


def prompts(pipeline: Pipeline) -> list[int]:
    """How many prompts each agent took; one that came while it was busy is queued first, then submitted."""
    logs = [mngr.events(agent, manager=pipeline.manager) for agent in agents_of("r1", pipeline.manager)]
    counts = [Counter(event.kind for event in log) for log in logs]
    return [max(count["prompt_submitted"], count["prompt_queued"]) for count in counts]
