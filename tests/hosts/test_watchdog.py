"""The first process of a host ends when its time is over, when no agent works, or when its lease is not renewed."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from mngr.errors import UsageError
from mngr.hosts.local import LocalHost
from mngr.hosts.watchdog import watchdog_argv, why_ended
from mngr.model.host import HostSpec
from mngr.process import run, wait_until
from mngr.store.paths import HostPaths
from mngr.store.probe import probe_argv
from mngr.testing.waiting import PATIENCE_S

StartWatchdog = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start_watchdog(tmp_path: Path) -> Iterator[StartWatchdog]:
    """Starts a watchdog for a host dir; all of them are gone afterwards."""
    started: list[subprocess.Popen[bytes]] = []

    def start(shell: str = "sh", **options: str) -> "subprocess.Popen[bytes]":
        argv = watchdog_argv(HostSpec(**options), str(tmp_path))  # type: ignore[arg-type]
        program = (*shell.split(), *argv[1:])
        started.append(subprocess.Popen(program, start_new_session=True))
        return started[-1]

    yield start
    for child in started:
        # Its sleep outlives it where it is not the first process of a host.
        with suppress(ProcessLookupError):
            os.killpg(child.pid, 9)
        child.wait()


class Agent:
    """An agent's files, and a process that is its own."""

    def __init__(self, folder: Path, name: str = "agent-1") -> None:
        self.dir = folder / "agents" / name
        self.dir.mkdir(parents=True)
        self.process = subprocess.Popen(["sleep", "1000"])
        stat = Path(f"/proc/{self.process.pid}/stat").read_text().strip()
        self.say("creating")
        (self.dir / "pid").write_text(f"{self.process.pid} boot {stat}\n")
        self.say("started")

    def say(self, kind: str) -> None:
        with (self.dir / "events.jsonl").open("a") as log:
            log.write(f'{{"at":1.0,"kind":"{kind}"}}\n')

    def end(self) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def events(self) -> str:
        return (self.dir / "events.jsonl").read_text()


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    made = Agent(tmp_path)
    yield made
    made.end()


def ended(child: "subprocess.Popen[bytes]") -> str:
    assert wait_until(lambda: child.poll() is not None, PATIENCE_S)
    return why_ended(child.returncode)


@pytest.mark.accept("K17")
@pytest.mark.parametrize("shell", ["sh", "busybox sh"])
def test_it_ends_when_no_agent_works_and_says_so(
    start_watchdog: StartWatchdog, agent: Agent, shell: str
) -> None:
    child = start_watchdog(shell, idle_timeout="1s")
    assert not wait_until(lambda: child.poll() is not None, 2.2), "an agent that lives works"
    agent.say("prompt_submitted")
    agent.say("turn_ended")
    assert "idle" in ended(child)
    assert agent.events.endswith('"kind":"stopped"}\n'), "it was alive and is not any more"


def test_an_agent_that_ended_does_not_work(start_watchdog: StartWatchdog, agent: Agent) -> None:
    agent.end()
    assert "idle" in ended(start_watchdog(idle_timeout="1s"))
    assert "stopped" not in agent.events


def test_a_host_is_not_idle_before_its_first_agent_is_there(
    start_watchdog: StartWatchdog, tmp_path: Path
) -> None:
    child = start_watchdog(idle_timeout="1s")
    assert not wait_until(lambda: child.poll() is not None, 1.7)
    unfinished = tmp_path / "agents/agent-2"
    unfinished.mkdir(parents=True)
    assert not wait_until(lambda: child.poll() is not None, 1.7)
    unfinished.rmdir()
    assert "idle" in ended(child)


def test_looks_renew_a_lease_and_without_them_it_ends(
    start_watchdog: StartWatchdog, agent: Agent, tmp_path: Path
) -> None:
    child = start_watchdog(lease="5s")
    host = LocalHost(str(tmp_path))

    def look() -> bool:
        host.run(probe_argv(HostPaths(host.dir))).check("probe")
        return child.poll() is not None

    assert not wait_until(look, 8)
    assert "lease" in ended(child)
    assert '"stopped"' in agent.events


def test_its_time_ends_it_and_a_request_ends_it_at_once(start_watchdog: StartWatchdog, agent: Agent) -> None:
    assert "time was over" in ended(start_watchdog(timeout="1s"))
    patient = start_watchdog()
    run(["sh", "-c", f"kill -TERM {patient.pid}"]).check("kill")
    assert ended(patient) == ""
    assert patient.returncode in (0, -15), "asked before its trap was set"


def test_no_time_at_all_is_refused() -> None:
    with pytest.raises(UsageError, match="--idle-timeout 0s"):
        watchdog_argv(HostSpec(idle_timeout="0s"), "/x")
