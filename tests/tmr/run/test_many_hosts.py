"""Runs whose agents are on hosts of their own: what the pipeline asks of which host, and how many there are."""

import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.cli.command import ARGV, Mngr
from tests.tmr.run.pipeline import KNOBS, UNCHANGED, Pipeline

from mngr.model.host import HostSpec
from mngr_tmr.engine.journal import read_journal

pytestmark = pytest.mark.slow

LIFE_S = 300.0
ON_HOSTS = replace(KNOBS, provider="faulty")


@pytest.mark.accept("Q2")
def test_a_run_with_many_hosts_and_few_descriptors_goes_on_looking(pipeline: Pipeline) -> None:
    """Each look has three pipes to each of twenty hosts, more than the soft limit allows."""
    provider = pipeline.manager.provider("faulty")
    for number in range(20):
        provider.create(HostSpec(name=f"other-{number}"))
    folder = pipeline.folder(pipeline.spec({"test_one": [UNCHANGED]}, ON_HOSTS))
    few = ("sh", "-c", 'ulimit -S -n 48; exec "$@"', "sh")
    done = subprocess.run(
        [*few, *ARGV, "tmr", "resume", "r1", "--integrator", "mechanical"],
        cwd=pipeline.project.repo,
        env=Mngr(pipeline.world).env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIFE_S,
        check=False,
    )
    assert done.returncode == 0, done
    assert pipeline.records(folder)["test_one"].end == "result"
    notes = [entry.message for entry in read_journal(folder.journal) if entry.step == "run"]
    assert not [note for note in notes if "failed" in note], notes
    assert "open files" not in Path(folder.journal).read_text() + done.stderr
