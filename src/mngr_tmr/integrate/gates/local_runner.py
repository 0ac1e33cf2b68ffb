"""Runs checks in folders of this machine: quick, without an agent or another host."""

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence

import msgspec

import mngr
from mngr_tmr.copies.copy import PytestRequest, PytestResult
from mngr_tmr.copies.facts import read_facts
from mngr_tmr.git import Repository, run_git
from mngr_tmr.integrate.gates.checkout import write_files
from mngr_tmr.integrate.gates.runner import Collection, CommandRun, collection_of
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.verdict import TestRun
from mngr_tmr.publish.helper import helper_config, helper_program, helper_setup
from mngr_tmr.verify.added import files_of_added
from mngr_tmr.verify.verdicts import proven_run

_KEPT = 4
_STATE = "state"


class LocalRunner:
    """A context manager that removes its folders at the end. All checks of one commit run in one folder."""

    def __init__(self, run: RunSpec) -> None:
        self._run = run
        self._repo = Repository(run.repo, run.created_at)
        self._folder = ""
        self._copies: dict[str, str] = {}

    def __enter__(self) -> "LocalRunner":
        self._folder = tempfile.mkdtemp(prefix="mngr-tmr-")
        with open(os.path.join(self._folder, "judge.pyz"), "wb") as file:
            file.write(helper_program(helper_config(self._run)))
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def collect(self, commit: str) -> Collection:
        ran = self._judge(commit, ("--collect-only", "-q", *self._run.pytest_args), PytestRequest())
        return collection_of(ran.facts, ran.code, ran.output)

    def run_tests(self, commit: str, node_ids: Sequence[str]) -> tuple[TestRun, ...]:
        args = (*self._run.pytest_args, *files_of_added(self._run, commit, node_ids))
        ran = self._judge(commit, args, PytestRequest(node_ids=tuple(node_ids), run="gates"))
        return tuple(proven_run(ran, node_id) for node_id in node_ids)

    def run_command(self, commit: str, command: str) -> CommandRun:
        place = os.path.join(self._copy(commit), self._run.folder)
        try:
            done = self._start(("sh", "-c", f"{{ {command}\n}} 2>&1"), place)
        except mngr.TimedOutError as error:
            return CommandRun(124, error.message)
        return CommandRun(done.code, done.text[-4000:])

    def _judge(self, commit: str, args: Sequence[str], asked: PytestRequest) -> PytestResult:
        limit = self._run.options.verify_deadline_s
        helper = os.path.join(self._folder, "judge.pyz")
        argv = (sys.executable, helper, "judge", "--timeout", f"{limit:g}", "--", *args)
        done = self._start(argv, self._copy(commit), msgspec.json.encode(asked))
        return PytestResult(done.code, done.stderr.decode(errors="replace"), read_facts(done.stdout))

    def _start(self, argv: Sequence[str], place: str, stdin: bytes = b"") -> mngr.Completed:
        state = os.path.join(self._folder, os.path.relpath(place, self._folder).split(os.sep)[0], _STATE)
        env = {
            "PYTHONDONTWRITEBYTECODE": "1",
            "MNGR_HOST_DIR": self._folder,
            "MNGR_AGENT_STATE_DIR": state,
            "PATH": os.pathsep.join((os.path.join(state, "bin"), os.environ.get("PATH", os.defpath))),
        }
        limit = self._run.options.verify_deadline_s + 60
        return mngr.run_program(argv, stdin=stdin, timeout_s=limit, env=env, cwd=place)

    def _copy(self, commit: str) -> str:
        """The folder with this commit; only the last few are kept."""
        place = self._copies.pop(commit, "") or self._make(commit)
        self._copies[commit] = place
        while len(self._copies) > _KEPT:
            old = self._copies.pop(next(iter(self._copies)))
            shutil.rmtree(os.path.dirname(old), ignore_errors=True)
        return place

    def _make(self, commit: str) -> str:
        folder = tempfile.mkdtemp(prefix=f"{commit[:10]}-", dir=self._folder)
        place = os.path.join(folder, "copy")
        os.mkdir(place)
        os.mkdir(os.path.join(folder, _STATE))
        write_files(self._repo, commit, place)
        run_git(place, "init", "-q", "--template=", timeout_s=60).check("git init failed")
        if self._run.options.setup or self._run.options.own_venv:
            run_git(place, "add", "--all", timeout_s=60).check("git add failed")
            text = helper_setup(self._run.options.setup, helper_config(self._run))
            self._start(("sh", "-c", text), place).check("the setup failed")
        return place
