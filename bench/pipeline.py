"""The pipeline with scripted agents, and its scheduler in virtual time. Alone: `python bench/pipeline.py`."""

import os
import random
import resource
import sys
import threading
import time
from collections.abc import Callable

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import msgspec
from bench.results import Idle, Makespan, Simulated
from bench.stage import make_stage, workshop

import mngr
from mngr_tmr.engine.journal import read_journal
from mngr_tmr.engine.loop import Loop
from mngr_tmr.engine.simulated import SimExecutor, SimWorld
from mngr_tmr.engine.state import RunState
from mngr_tmr.model.limits import RunLimits
from mngr_tmr.model.run import RunOptions, RunSpec
from mngr_tmr.model.task import make_task
from mngr_tmr.run.execution import run_tasks
from mngr_tmr.run.polling import agents_of
from mngr_tmr.run_folder.folder import RunFolder, make_folder

Steps = list[dict[str, object]]

_WORK_S = (20.0, 60.0)
_IDLE_S = 20.0


def measure_simulation(tasks: int = 10_000, slots: int = 100) -> Simulated:
    """The real decisions over a world without processes."""
    options = RunOptions(slots=slots, verifiers=20)
    found = tuple(make_task(f"tests/test_it.py::test_{number}") for number in range(tasks))
    world, entries = SimWorld("sim", 1, work_s=_WORK_S), 0

    def append(*added: object) -> None:
        nonlocal entries
        entries += len(added)

    began = time.perf_counter()
    Loop(RunState(RunSpec("sim", "", "", 0.0, found, (), options=options)), append, SimExecutor(world)).go()
    seconds = time.perf_counter() - began
    use = world.busy_s / (world.now * slots)
    return Simulated(tasks, slots, use, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def measure_makespan(
    root: str, tasks: int = 200, slots: int = 20, work_s: tuple[float, float] = _WORK_S
) -> Makespan:
    """So many agents, each working for a time that a seed chose; how close their makespan comes to total/slots."""
    chance = random.Random(tasks)
    times = [chance.uniform(*work_s) for _ in range(tasks)]
    steps: list[Steps] = [
        [{"sleep": seconds}, {"result": _unchanged(number)}] for number, seconds in enumerate(times)
    ]
    spec, folder, manager = _run(root, f"makespan-{tasks}", steps, RunOptions(slots=slots, launchers=8))
    run_tasks(folder, manager=manager, env={}, tell=_say_nothing)
    entries = [entry for entry in read_journal(folder.journal) if entry.task]
    stopped = [entry.at for entry in entries if (entry.step, entry.kind) == ("stop", "done")]
    lost = sum(entry.kind == "failed" for entry in entries)
    noticed = sorted(_noticed(spec, folder, manager))
    return Makespan(
        tasks,
        slots,
        sum(times) / slots,
        max(stopped) - entries[0].at,
        noticed[len(noticed) // 2] if noticed else 0.0,
        noticed[-1] if noticed else 0.0,
        lost,
    )


def measure_idle(root: str, agents: int = 20) -> Idle:
    """What the orchestrator costs while its agents work and nothing happens."""
    steps: list[Steps] = [[{"hang": True}] for _ in range(agents)]
    options = RunOptions(slots=agents, timeout_s=3600.0, silence_s=3600.0)
    spec, folder, manager = _run(root, f"idle-{agents}", steps, options)
    run = threading.Thread(
        target=run_tasks, args=(folder,), kwargs={"manager": manager, "env": {}}, daemon=True
    )
    run.start()
    _until(lambda: _launched(folder) == agents)
    before, began = _cpu_s(), time.monotonic()
    threading.Event().wait(_IDLE_S)
    share = (_cpu_s() - before) / (time.monotonic() - began)
    mngr.stop(
        agents_of(spec.id, manager), manager=manager
    )  # an agent that disappears would get another attempt
    run.join()
    mngr.destroy(agents_of(spec.id, manager), manager=manager)
    return Idle(agents, share)


def _run(
    root: str, name: str, steps: list[Steps], options: RunOptions
) -> tuple[RunSpec, RunFolder, mngr.Manager]:
    stage = make_stage(root, name)
    plays = os.path.join(stage.home, "plays")
    os.makedirs(plays)
    for number, playbook in enumerate(steps):
        with open(os.path.join(plays, f"test_{number}.json"), "wb") as file:
            file.write(msgspec.json.encode(playbook))
    manager = mngr.Manager(cwd=stage.repo, env=stage.env)
    base = mngr.run_program(["git", "rev-parse", "HEAD"], cwd=stage.repo).text.strip()
    options = msgspec.structs.replace(
        options,
        type="scripted",
        args=(f"{plays}/{{test}}.json",),
        verifiers=1,
        grace_s=2.0,
        record=False,
        limits=RunLimits(
            group=False
        ),  # no test of it passes at the base, and each shall have its agent at once
    )
    tasks = tuple(make_task(_test(number)) for number in range(len(steps)))
    spec = RunSpec(name, stage.repo, base, time.time(), tasks, ("true",), options=options)
    return spec, make_folder(os.path.join(stage.home, "runs"), spec), manager


def _say_nothing(_line: str) -> None:
    pass


def _test(number: int) -> str:
    return f"tests/test_it.py::test_{number}"


def _unchanged(number: int) -> dict[str, object]:
    return {
        "schema": 1,
        "test": _test(number),
        "outcome": "unchanged",
        "passed_before": True,
        "passed_after": True,
        "summary": "Nothing to change.",
    }


def _noticed(spec: RunSpec, folder: RunFolder, manager: mngr.Manager) -> list[float]:
    """How long after its result was written each agent was known to be done."""
    known = {
        entry.task: entry.at
        for entry in read_journal(folder.journal)
        if (entry.step, entry.kind) == ("watch", "done")
    }
    agents = {agent.labels["tmr.task"]: agent.id for agent in agents_of(spec.id, manager)}
    host_dir = manager.host_dir
    return [
        at - os.stat(os.path.join(host_dir, "agents", agents[task], "outbox", "result.json")).st_mtime
        for task, at in known.items()
    ]


def _launched(folder: RunFolder) -> int:
    if not os.path.exists(folder.journal):
        return 0
    entries = read_journal(folder.journal)
    return sum((entry.step, entry.kind) == ("launch", "done") for entry in entries)


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.2)


if __name__ == "__main__":
    print(measure_simulation())
    with workshop() as folder:
        print(measure_idle(folder))
        print(measure_makespan(folder))
