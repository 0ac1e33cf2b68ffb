"""Many sandboxes at Modal: the real SDK against a loopback control plane, whose sandboxes run nothing.

Alone: `python bench/sandboxes.py [N ...]`.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench.results import Sandboxes
from bench.stage import Stage, end_stage, make_stage, workshop

SIZES = (20, 100, 200)
_APP = "fleet"
_LATENCY_S = 0.06
_SAMPLE_S = 0.01


class NoModalError(Exception):
    """The SDK is not installed."""


def measure_sandboxes(root: str, sizes: Sequence[int] = SIZES) -> tuple[Sandboxes, ...]:
    """`list` and `exec` by bare name over so many sandboxes: calls, seconds, CPU and descriptors."""
    return tuple(_measure(root, hosts) for hosts in sizes)


def _measure(root: str, hosts: int) -> Sandboxes:
    stage = make_stage(root, f"modal-{hosts}")
    try:
        with _plane(hosts) as plane:
            env = {**stage.env, **json.loads(_line(plane))}
            _configure(stage)
            loading = _run(stage, env, plane, [sys.executable, "-c", "import modal"])
            listed = _run(stage, env, plane, [sys.executable, "-m", "mngr", "list", "--provider", "modal"])
            seen = listed.said.count("RUNNING")
            ran = _run(stage, env, plane, [sys.executable, "-m", "mngr", "exec", "a1", "--", "true"])
    finally:
        end_stage(stage)
    return Sandboxes(
        hosts=hosts,
        latency_s=_LATENCY_S,
        seen=seen,
        calls=listed.calls,
        seconds=listed.seconds,
        cpu_s=listed.cpu_s,
        loading_s=loading.seconds,
        loading_cpu_s=loading.cpu_s,
        descriptors=listed.descriptors,
        exec_calls=ran.calls,
    )


class _Ran:
    """What one command cost."""

    def __init__(self, said: str, seconds: float, cpu_s: float, descriptors: int, calls: int) -> None:
        self.said, self.seconds, self.cpu_s = said, seconds, cpu_s
        self.descriptors, self.calls = descriptors, calls


def _run(stage: Stage, env: dict[str, str], plane: "subprocess.Popen[str]", argv: list[str]) -> _Ran:
    began = time.perf_counter()
    child = subprocess.Popen(
        argv, cwd=stage.repo, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    most: list[int] = [0]
    sampler = threading.Thread(target=_sample, args=(child.pid, most), daemon=True)
    sampler.start()
    assert child.stdout
    said = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{argv} ended with {child.returncode}: {said}")
    assert plane.stdin
    plane.stdin.write("\n")
    plane.stdin.flush()
    return _Ran(said, seconds, used.ru_utime + used.ru_stime, most[0], int(_line(plane).split()[0]))


def _sample(pid: int, most: list[int]) -> None:
    """The most descriptors that a process had open."""
    while True:
        try:
            most[0] = max(most[0], len(os.listdir(f"/proc/{pid}/fd")))
        except OSError:
            return
        time.sleep(_SAMPLE_S)


@contextmanager
def _plane(hosts: int) -> Iterator["subprocess.Popen[str]"]:
    try:
        import modal  # noqa: F401
    except ImportError:
        raise NoModalError("sandboxes at Modal were left out: its SDK is not installed") from None
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    paths = (here, f"{here}/examples/mngr-box/src")
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.support.modal.fleet", str(hosts), str(_LATENCY_S), _APP],
        cwd=here,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield child
    finally:
        assert child.stdin
        child.stdin.close()
        child.wait()


def _line(child: "subprocess.Popen[str]") -> str:
    assert child.stdout
    return child.stdout.readline()


def _configure(stage: Stage) -> None:
    os.makedirs(stage.env["MNGR_HOST_DIR"], mode=0o700, exist_ok=True)
    with open(f"{stage.env['MNGR_HOST_DIR']}/config.toml", "w") as file:
        file.write(f'[providers.modal]\napp = "{_APP}"\n')


if __name__ == "__main__":
    with workshop() as place:
        for row in measure_sandboxes(place, [int(word) for word in sys.argv[1:]] or SIZES):
            print(row)
