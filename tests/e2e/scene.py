"""What our own end-to-end tests share: how a scene is set, and how it is looked at."""

import json
import shlex
from pathlib import Path
from typing import Any

from mngr_e2e import E2eSession, expect


def given(e2e: E2eSession, *commands: str) -> None:
    """Sets the scene: commands that have to succeed and are not what the test is about."""
    for command in commands:
        expect(e2e.run(command)).to_succeed()


def agents(e2e: E2eSession) -> dict[str, Any]:
    """Every agent's record by its name, as `mngr list` tells it."""
    listed = e2e.run("mngr list --json")
    expect(listed).to_succeed()
    return {record["name"]: record for record in json.loads(listed.stdout)["agents"]}


def agent(e2e: E2eSession, name: str) -> Any:
    found = agents(e2e)
    assert name in found, f"{name} is not among {sorted(found)}"
    return found[name]


def inside(e2e: E2eSession, name: str, script: str) -> str:
    """What a script prints that runs where an agent works."""
    done = e2e.run(f"mngr exec {name} -- sh -c {shlex.quote(script)}")
    expect(done).to_succeed()
    return done.stdout


def commit(e2e: E2eSession, name: str, file: str, text: str = "from the agent") -> None:
    """Has an agent commit a file; the subject is "add FILE"."""
    script = f'mkdir -p "$(dirname {file})"; echo {shlex.quote(text)} >{file}'
    inside(e2e, name, f"{script}; git add {file}; git commit -q -m 'add {file}'")


def git(e2e: E2eSession, *words: str) -> str:
    """What git says in the test's own repository."""
    done = e2e.run(shlex.join(("git", *words)))
    expect(done).to_succeed()
    return done.stdout.strip()


def is_running(pid: str) -> bool:
    """Whether a process lives; one that only waits to be buried does not."""
    try:
        stat = Path("/proc", pid, "stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"
