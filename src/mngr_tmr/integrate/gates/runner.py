"""What the gates run: collection, tests and commands, each in a clean copy of a commit."""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from mngr_tmr.copies.facts import PytestFacts
from mngr_tmr.model.verdict import TestRun

_TAIL = 2000


class Collection(Struct, frozen=True):
    """The tests there are; an error means that not all could be collected."""

    node_ids: tuple[str, ...]
    error: str = ""


class CommandRun(Struct, frozen=True):
    """How a command ended, with the end of its output."""

    code: int
    output: str = ""


class Runner(Protocol):
    """Runs tests and commands on integrated trees; nothing is cached."""

    def collect(self, commit: str) -> Collection: ...

    def run_tests(self, commit: str, node_ids: Sequence[str]) -> tuple[TestRun, ...]:
        """Each test once, in this order; a test that is not there is "missing"."""
        ...

    def run_command(self, commit: str, command: str) -> CommandRun: ...


class ProgressRunner:
    """A runner that reports the step of the integration it is used for, and how many tests it runs."""

    def __init__(self, runner: Runner, tell: Callable[[str], None]) -> None:
        self._runner, self._tell, self._step = runner, tell, ""

    def begin(self, step: str) -> None:
        self._step = step
        self._tell(step)

    def collect(self, commit: str) -> Collection:
        return self._runner.collect(commit)

    def run_tests(self, commit: str, node_ids: Sequence[str]) -> tuple[TestRun, ...]:
        if node_ids:
            self._tell(f"{self._step}, {len(node_ids)} test{'s' * (len(node_ids) > 1)}")
        return self._runner.run_tests(commit, node_ids)

    def run_command(self, commit: str, command: str) -> CommandRun:
        return self._runner.run_command(commit, command)


def begin_step(runner: Runner, step: str) -> None:
    """Reports the step that begins, if the runner reports steps."""
    if isinstance(runner, ProgressRunner):
        runner.begin(step)


def collection_of(facts: PytestFacts, code: int, output: str) -> Collection:
    """The result of `pytest --collect-only`."""
    node_ids = tuple(test.node_id for test in facts.tests if not test.deselected)
    broken = "; ".join(f"{one.node_id}: {one.text[-_TAIL:].strip()}" for one in facts.broken)
    if not broken and (code not in (0, 5) or not facts.has_ended):
        broken = f"pytest failed to collect (exit code {code}): {output[-_TAIL:]}"
    return Collection(node_ids, broken)
