"""Runs to report on: records made by hand, and folders as a run leaves them."""

import json
from pathlib import Path
from typing import Any

import msgspec
from tests.support.repository import commit_all, copy_of

import mngr
from mngr_tmr.model.entry import Kind, Step
from mngr_tmr.model.integration import Integration
from mngr_tmr.model.measured import MeasuredOutcomes, Measurement
from mngr_tmr.model.old_entries import read_entry
from mngr_tmr.model.record import Commit, End, TaskRecord
from mngr_tmr.model.result import Blocked, Change, ChangeKind, Claim, Escalation, Outcome, Result
from mngr_tmr.model.run import RunOptions, RunSpec
from mngr_tmr.model.task import Task, make_task
from mngr_tmr.model.verdict import TestOutcome, TestRun, Verdict, Verified
from mngr_tmr.report.data.report_model import ReportModel, RunReading, make_report_model
from mngr_tmr.run_folder.attempt import PulledAttempt
from mngr_tmr.run_folder.folder import RunFolder, make_folder, runs_folder

T0 = 1_790_000_000.0
BASE = "b" * 40
HOSTILE = "\x1b[2J\x1b]0;owned\x07<script>alert(1)</script>`rm -rf /`|\u202egnp.exe\x00"


def node(name: str) -> str:
    return f"tests/e2e/test_shop.py::test_{name}"


def task(name: str, **about: Any) -> Task:
    return make_task(node(name), **about)


def result(name: str, outcome: Outcome = "unchanged", **about: Any) -> Result:
    about = {"passed_before": True, "passed_after": True, "summary": f"did {name}", **about}
    return Result(node(name), outcome, **about)


def blocked(name: str, reason: str = "no network", stage: str = "environment") -> Result:
    return result(
        name, "blocked", passed_before=None, passed_after=None, blocked=Blocked(stage, reason, "a network")
    )


def change(kind: ChangeKind, *commits: str, summary: str = "a change") -> Change:
    return Change(kind, commits, summary)


def escalation(title: str, kind: str = "bug", detail: str = "") -> Escalation:
    return Escalation(kind, title, detail)


def seen(name: str, verdict: Verdict, reason: str = "", text: str = "", commit: str = BASE) -> Verified:
    outcome: TestOutcome = (
        "failed" if verdict in ("failed", "flaky") else "error" if verdict == "error" else "passed"
    )
    runs = (TestRun(node(name), outcome, 1.5, text or reason),)
    return Verified(node(name), commit, verdict, reason, runs)


def measured(name: str, base: str, tip: str, agent: str = "", why: str = "") -> MeasuredOutcomes:
    """A row of the table of the branch."""
    return MeasuredOutcomes(node(name), Measurement(base), Measurement(agent), Measurement(tip, why))


def commit(number: int, kind: ChangeKind = "implementation", claimed: ChangeKind | None = None) -> Commit:
    path = {"implementation": "src/shop.py", "test": "tests/test_shop.py"}.get(kind, "README.md")
    return Commit(f"{number:040x}", f"work {number}", claimed, kind, (path,))


def record(
    name: str,
    claimed: Result | Claim | None = None,
    *commits: Commit,
    before: Verdict | Verified | None = "passed",
    after: Verdict | Verified | None = "passed",
    end: End = "result",
    **about: Any,
) -> TaskRecord:
    """A task with what its agent says, its commits, and what was seen; a verdict may be given by its name."""
    claim = Claim(claimed) if isinstance(claimed, Result) else claimed
    tip = commits[-1].id if commits else BASE
    return TaskRecord(
        task(name),
        end,
        1,
        f"tmr-r1-{name}",
        claim=claim,
        before=seen(name, before) if isinstance(before, str) else before,
        after=seen(name, after, commit=tip) if isinstance(after, str) else after,
        commit=tip,
        commits=commits,
        **about,
    )


FIX = commit(1)
CLEAN = record("clean", result("clean"))
SKIPPED = record("skipped", result("skipped", passed_after=None), before="skipped", after="skipped")
FIXED = record(
    "fixed", result("fixed", "fixed", changes=(change("implementation", FIX.id),)), FIX, before="failed"
)
BLOCKED = record("blocked", blocked("blocked"))
LOST = record("lost", None, end="failed", stage="watch", message="gone", before=None, after=None)
MALFORMED = record("malformed", Claim(None, "not a result", "{"))
QUEUED = record("queued", None, end="queued", after=None)
RUNNING = record("running", None, end="running", after=None)
NOT_RUN = record("not_run", None, end="not_run", after=None)
ESCALATING = record("escalating", result("escalating", escalations=(escalation("login is slow"),)))


def contents_of(
    *records: TaskRecord, integration: Integration | None = None, is_alive: bool = False
) -> ReportModel:
    spec = RunSpec("r1", "/repo", BASE, T0, tuple(one.task for one in records), ("pytest",))
    return make_report_model(RunReading(spec, records, integration, is_alive, T0 + 60))


class RunDesk:
    """A run's folder in a repository of its own, with as many tests as are named."""

    def __init__(self, repo: Path, *names: str, name: str = "r1", out: str = "", **about: Any) -> None:
        self.repo = repo
        self.base = self.git("rev-parse", "HEAD").strip() if (repo / ".git").exists() else BASE
        about = {"options": RunOptions(type="scripted", slots=4), "pytest": ("pytest",), **about}
        self.spec = RunSpec(name, str(repo), self.base, T0, tuple(task(one) for one in names), **about)
        self.folder: RunFolder = make_folder(runs_folder(str(repo), out), self.spec)
        self.path = Path(self.folder.path)
        self._at = T0

    def git(self, *words: str, stdin: bytes = b"") -> str:
        env = {"HOME": str(self.repo.parent), "GIT_CONFIG_NOSYSTEM": "1"}
        return mngr.run_program(["git", *words], cwd=str(self.repo), env=env, stdin=stdin).check("git").text

    def note(self, step: Step, kind: Kind, name: str = "", message: str = "", **data: Any) -> None:
        """A line of the journal, ten seconds after the last."""
        self._at += 10.0
        slug = task(name).slug if name else ""
        entry = {"at": self._at, "step": step, "kind": kind, "task": slug, "message": message, "data": data}
        line = msgspec.json.encode({**entry, "attempt": 1 if name else 0})
        with open(self.folder.journal, "ab") as file:
            file.write(msgspec.json.encode(read_entry(line)) + b"\n")

    def launched(self, *names: str) -> None:
        for name in names:
            self.note("launch", "intended", name)
            self.note("launch", "done", name)

    def failed(self, name: str, step: Step = "watch", message: str = "the agent disappeared") -> None:
        self.launched(name)
        self.note(step, "failed", name, message)
        self.note("pull", "done", name)
        self.note("stop", "done", name)

    def ended(self, name: str, claim: Result | bytes | None = None, commit: str = "") -> Path:
        """A task whose agent handed over this; with a commit it still waits for a check."""
        self.launched(name)
        self.note("watch", "done", name, "result")
        data = msgspec.json.encode(claim or result(name)) if not isinstance(claim, bytes) else claim
        path = self.attempt(name)
        (path / "outbox").mkdir(parents=True)
        (path / "outbox" / "result.json").write_bytes(data)
        self.folder.writer.write_json(str(path / "pulled.json"), PulledAttempt("", commit or self.base))
        self.note("pull", "done", name, verify=bool(commit))
        self.note("stop", "done", name)
        return path

    def verified(self, name: str, verdict: Verdict = "passed", reason: str = "", commit: str = "") -> None:
        self.note("verify", "intended", name)
        self.note("verify", "done", name)
        found = seen(name, verdict, reason, commit=commit or self.base)
        self.folder.writer.write_json(self.folder.file(task(name).slug, 1, "verified.json"), found)

    def measured(self, **verdicts: Verdict) -> None:
        """What was seen at the base commit."""
        self.folder.writer.write_json(
            self.folder.base, {node(name): seen(name, verdict) for name, verdict in verdicts.items()}
        )

    def integrated(self, integration: Integration) -> None:
        self.folder.writer.write_json(self.folder.integration, integration)

    def attempt(self, name: str, number: int = 1) -> Path:
        return Path(self.folder.attempt(task(name).slug, number))

    def summary(self) -> Any:
        return json.loads((self.path / "summary.json").read_bytes())


def with_repository(folder: Path) -> Path:
    """A repository with one commit, in a folder whose name needs quoting."""
    repo = folder / "my repo's"
    copy_of(_make_repository, repo)
    return repo


def _make_repository(path: Path) -> None:
    commit_all(path, name="Ada", email="ada@example.com", message="first")
