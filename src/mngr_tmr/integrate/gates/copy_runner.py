"""Runs checks in copies made with `create`: on a host of the run's kind, each with the run's setup."""

from collections.abc import Mapping, Sequence

import mngr
from mngr_tmr.copies.capacity_wait import Tell
from mngr_tmr.copies.copies import Copies
from mngr_tmr.copies.copy import PytestRequest
from mngr_tmr.integrate.gates.runner import Collection, CommandRun, collection_of
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.verdict import TestRun
from mngr_tmr.verify.verify import run_once

_SHOWN = 4000


class CopyRunner:
    """A context manager that destroys its copies at the end. All checks of one commit run in one copy."""

    def __init__(
        self,
        run: RunSpec,
        *,
        env: Mapping[str, str] | None = None,
        manager: mngr.Manager | None = None,
        tell: Tell = lambda _: None,
    ) -> None:
        self._run, self._copies = run, Copies(run, env, manager, tell)

    def collect(self, commit: str) -> Collection:
        flags = ("--collect-only", "-q", *self._run.pytest_args)
        ran = self._copies.at(commit).pytest(flags, PytestRequest(), self._run.options.verify_deadline_s)
        return collection_of(ran.facts, ran.code, ran.output)

    def run_tests(self, commit: str, node_ids: Sequence[str]) -> tuple[TestRun, ...]:
        if not node_ids:
            return ()
        ran = run_once(self._copies.at(commit), self._run, node_ids, "gate")
        return tuple(ran[node_id] for node_id in node_ids)

    def run_command(self, commit: str, command: str) -> CommandRun:
        ran = self._copies.at(commit).command(command, self._run.options.verify_deadline_s)
        return CommandRun(ran.code, ran.output[-_SHOWN:])

    def __enter__(self) -> "CopyRunner":
        return self

    def __exit__(self, *_: object) -> None:
        self._copies.__exit__()
