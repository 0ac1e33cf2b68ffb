"""An agent in a container, against bare `docker run` and `git clone`. Alone: `python bench/docker.py`."""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench.ours import PROGRAM, Ours
from bench.results import CONTAINER, FLOOR, OURS, Timing
from bench.stage import Stage, make_stage
from bench.timing import Samples, Step, Turn, take_turns, time_step
from tests.support.docker import BASE, Engine, running

_NAMESPACE = "bench"
# A client that writes down what it is asked for.
_CLIENT = """#!/bin/sh
echo "$3" >>"$0.log"
exec docker "$@"
"""


def why_not() -> str:
    """What is missing for this part of the benchmark; empty when nothing is."""
    if os.geteuid() != 0:
        return "no container was made: only root can start an engine of its own"
    found = any(os.access(f"{folder}/dockerd", os.X_OK) for folder in os.environ["PATH"].split(os.pathsep))
    return "" if found else "no container was made: there is no dockerd"


def measure(root: str, reps: int) -> tuple[dict[str, dict[str, Timing]], int]:
    """Times of one creation, ours and bare, in turns; and how many times ours entered the container."""
    with running(Path(root, "docker"), only_base=True) as engine:
        stage = make_stage(root, "container")
        samples = Samples()
        turns = (Turn(CONTAINER, OURS, _ours(stage, engine)), Turn(CONTAINER, FLOOR, _bare(stage, engine)))
        take_turns(samples, [turns], reps)
        return samples.timings(), _execs(stage, engine)


def _ours(stage: Stage, engine: Engine) -> Callable[[int], float]:
    mngr = Ours(stage)
    _configure(stage, engine, "docker")

    def act(_: int) -> float:
        seconds = time_step(stage, mngr.create("foo@.docker"))
        time_step(stage, mngr.destroy(["foo"]))
        return seconds

    return act


def _bare(stage: Stage, engine: Engine) -> Callable[[int], float]:
    docker = ("docker", "--host", engine.address)
    run = (*docker, "run", "-d", "--name", "bare", "--network", "host", BASE)
    # Through a pipe, as it must be done when the engine is not on this machine.
    inside = "cat >/bundle && git clone -q /bundle /work"
    clone = f"git bundle create -q - HEAD | docker --host {engine.address} exec -i bare sh -c '{inside}'"
    made = Step(((*run, *PROGRAM), ("sh", "-c", clone)))

    def act(_: int) -> float:
        seconds = time_step(stage, made)
        time_step(stage, Step(((*docker, "rm", "-f", "bare"),)))
        return seconds

    return act


def _execs(stage: Stage, engine: Engine) -> int:
    client = Path(stage.home, "client")
    client.write_text(_CLIENT)
    client.chmod(0o755)
    _configure(stage, engine, str(client))
    mngr = Ours(stage)
    time_step(stage, mngr.create("counted@.docker"))
    count = Path(f"{client}.log").read_text().split().count("exec")
    time_step(stage, mngr.destroy(["counted"]))
    return count


def _configure(stage: Stage, engine: Engine, client: str) -> None:
    settings = {**engine.settings(_NAMESPACE), "command": client}
    lines = [
        f"{key} = {str(value).lower() if isinstance(value, bool) else repr(value)}"
        for key, value in settings.items()
    ]
    folder = Path(stage.env["MNGR_HOST_DIR"])
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "config.toml").write_text("\n".join(["[providers.docker]", *lines, ""]))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="mngr-bench-") as folder:
        times, execs = measure(folder, 7)
        ours, bare = (times[CONTAINER][name].median_s for name in (OURS, FLOOR))
        print(f"create {ours:.2f} s, docker run and clone {bare:.2f} s: {ours / bare:.2f} x, {execs} execs")
