"""Integrating 10, 50 and 100 branches mechanically: seconds and git processes. Alone: `python bench/integrate.py`."""

import os
import sys
import tempfile
import time
from collections.abc import Sequence

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench.results import Integrated

import mngr
from mngr_tmr.integrate.gates.runner import Collection, CommandRun
from mngr_tmr.integrate.integrate import integrate
from mngr_tmr.model.record import Commit, TaskRecord
from mngr_tmr.model.result import Change, Claim, Result
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import Task, branch_of, make_task
from mngr_tmr.model.verdict import TestRun, Verified

SIZES = (10, 50, 100)
_FILES = 200
_LINES = "".join(f"line {number}\n" for number in range(1, 101))


class AllGreen:
    """Tests cost nothing here: only the integration itself is measured."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tuple(task.node_id for task in tasks)

    def collect(self, commit: str) -> Collection:  # noqa: ARG002
        return Collection(self._tasks)

    def run_tests(self, commit: str, node_ids: Sequence[str]) -> tuple[TestRun, ...]:  # noqa: ARG002
        return tuple(TestRun(node_id, "passed") for node_id in node_ids)

    def run_command(self, commit: str, command: str) -> CommandRun:  # noqa: ARG002
        return CommandRun(0)


def measure(root: str, sizes: Sequence[int] = SIZES) -> tuple[Integrated, ...]:
    return tuple(_measure(os.path.join(root, f"integrate-{size}"), size) for size in sizes)


def _measure(repo: str, branches: int) -> Integrated:
    run, records = make_run(repo, branches)
    trace = f"{repo}.trace"
    os.environ["GIT_TRACE2_EVENT"] = trace
    try:
        began = time.perf_counter()
        done = integrate(run, records, runner=AllGreen(run.tasks))
        seconds = time.perf_counter() - began
    finally:
        del os.environ["GIT_TRACE2_EVENT"]
    with open(trace, "rb") as file:
        processes = sum(b'"event":"start"' in line for line in file)
    return Integrated(branches, seconds, processes, len(done.fixes), len(done.conflicts))


def make_run(repo: str, branches: int) -> tuple[RunSpec, list[TaskRecord]]:
    """A project of 200 files; each agent changes its test and a file, every fifth alike, every tenth in conflict."""
    _git(repo, "init", "-q", "-b", "main", repo)
    files = {f"src/module_{number}.py": _LINES for number in range(_FILES)}
    base = _import(repo, [("main", "", files)])[0]
    tasks = [make_task(f"tests/test_{number}.py::test_{number}") for number in range(branches)]
    steps: list[tuple[str, str, dict[str, str]]] = []
    for number, task in enumerate(tasks):
        branch = branch_of("bench", task.slug)
        steps.append(
            (branch, base, {f"tests/test_{number}.py": f"def test_{number}():\n    assert {number}\n"})
        )
        steps.append((branch, "", _fix(number)))
    ids = _import(repo, steps)
    records = [_record(task, base, ids[2 * number : 2 * number + 2]) for number, task in enumerate(tasks)]
    spec = RunSpec("bench", repo, base, 1_700_000_000.0, tuple(tasks), ("pytest",))
    return spec, records


def _fix(number: int) -> dict[str, str]:
    if number % 5 == 0:
        return {"src/module_0.py": _LINES.replace("line 50\n", "fifty\n")}
    if number % 10 == 1:
        return {"src/module_1.py": _LINES.replace("line 10\n", f"ten {number}\n")}
    line = 2 + 2 * (number % 49)
    return {f"src/module_{2 + number % 7}.py": _LINES.replace(f"line {line}\n", f"changed {number}\n")}


def _record(task: Task, base: str, ids: Sequence[str]) -> TaskRecord:
    test, fix = ids
    commits = (
        Commit(test, "a better test", "test", "test", (task.file,)),
        Commit(fix, "a fix", "implementation", "implementation", ("src",)),
    )
    changes = (Change("test", (test,), "a better test"), Change("implementation", (fix,), "a fix"))
    result = Result(task.node_id, "fixed", False, True, "done", changes=changes)
    return TaskRecord(
        task=task,
        end="result",
        claim=Claim(result),
        before=Verified(task.node_id, base, "failed"),
        after=Verified(task.node_id, fix, "passed"),
        commit=fix,
        commits=commits,
    )


def _import(repo: str, steps: Sequence[tuple[str, str, dict[str, str]]]) -> list[str]:
    """Commits, one after another, by one process; an empty start goes on where the branch is."""
    stream, marks = bytearray(), f"{repo}.marks"
    for number, (branch, start, files) in enumerate(steps, 1):
        stream += f"commit refs/heads/{branch}\nmark :{number}\n".encode()
        stream += b"committer Bench <bench@example.com> 1700000000 +0000\ndata 1\nx\n"
        stream += f"from {start}\n".encode() if start else b""
        for path, text in files.items():
            stream += f"M 100644 inline {path}\ndata {len(text)}\n{text}\n".encode()
    _git(repo, "-C", repo, "fast-import", "--quiet", f"--export-marks={marks}", stdin=bytes(stream))
    with open(marks) as file:
        lines = sorted(file.read().splitlines(), key=lambda line: int(line.split()[0][1:]))
    return [line.split()[1] for line in lines]


def _git(repo: str, *args: str, stdin: bytes = b"") -> None:
    mngr.run_program(["git", *args], stdin=stdin, timeout_s=300).check(f"cannot make {repo}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="mngr-bench-") as folder:
        for one in measure(folder):
            print(
                f"{one.branches} branches: {one.seconds:.2f} s, {one.processes} git processes, {one.fixes} fixes"
            )
