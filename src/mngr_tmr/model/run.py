"""`run.json`: what was asked, written once before anything is done."""

import os
from collections.abc import Mapping
from itertools import pairwise
from typing import Literal

from msgspec import Struct, field

from mngr_tmr.model.dependencies import SkippedTask
from mngr_tmr.model.estimate import RunEstimate
from mngr_tmr.model.limits import RunLimits
from mngr_tmr.model.task import Task

_MODEL_FLAGS = ("--model", "-m")
Integrator = Literal["auto", "mechanical", "agent"]


class RunOptions(Struct, frozen=True):
    """What `resume` may change for what is left. No value of an environment variable is ever in here."""

    type: str = "claude"
    args: tuple[str, ...] = ()
    provider: str = ""
    snapshot: str = ""
    lease: str = "1h"
    slots: int = 0
    max_hosts: int = 0
    launchers: int = 8
    verifiers: int = 0
    timeout_s: float = 3600.0
    grace_s: float = 20.0
    idle_s: float = 120.0
    silence_s: float = 900.0
    launch_deadline_s: float = 600.0
    pull_deadline_s: float = 300.0
    stop_deadline_s: float = 60.0
    verify_deadline_s: float = 1800.0
    verify_runs: int = 2
    transfer: str = "mirror"
    own_venv: bool = False
    setup: str = ""
    programs: tuple[str, ...] = ()
    env_names: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    record: bool = True
    keep: bool = False
    integrator: Integrator = "auto"
    integrator_type: str = ""
    integrator_args: tuple[str, ...] = ()
    integrator_env_names: tuple[str, ...] = ()
    push: bool = False
    lint: str = ""
    suite: str = ""
    implementation: tuple[str, ...] = ()
    prompt: str = ""
    limits: RunLimits = RunLimits()

    @property
    def model(self) -> str:
        """The model that the agents' arguments ask for; empty where they leave it to the program."""
        for word, following in pairwise((*self.args, "")):
            name, equals, value = word.partition("=")
            if name in _MODEL_FLAGS:
                return value if equals else following
        return ""


class RunSpec(Struct, frozen=True):
    """One run: where it is, what it starts from, the tests that were collected.

    `estimate` is what it was expected to use when it began; runs of older versions have none.
    `pytest` is run in `folder` of a working copy, with `pytest_args` as they were given.
    `skipped` are tasks without an agent, by slug, and `conditions` digests of how each task is run.
    """

    id: str
    repo: str
    base: str
    created_at: float
    tasks: tuple[Task, ...]
    pytest: tuple[str, ...]
    pytest_args: tuple[str, ...] = ()
    tutorial: str = ""
    options: RunOptions = field(default_factory=RunOptions, name="knobs")
    schema: int = 1
    folder: str = ""
    estimate: RunEstimate | None = None
    skipped: dict[str, SkippedTask] = {}
    conditions: dict[str, str] = {}

    @property
    def pytest_in_copy(self) -> tuple[str, ...]:
        """How pytest is started in a working copy: by the Python of the copy, where it has one of its own."""
        has_own_python = self.options.own_venv and os.path.isabs(self.pytest[0])
        return ("python3", *self.pytest[1:]) if has_own_python else self.pytest


def tasks_with_agents(run: RunSpec) -> list[Task]:
    """The tasks that are not skipped."""
    return [task for task in run.tasks if task.slug not in run.skipped]


class Secrets(Struct, frozen=True):
    """Values that are never written down: for the tests, and for the integrator alone."""

    tests: Mapping[str, str] = {}
    integrator: Mapping[str, str] = {}
