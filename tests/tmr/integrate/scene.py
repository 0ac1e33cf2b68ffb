"""A repository and the work of agents on it, made by git itself and told as the records of a run."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.support.repository import copy_of, make_empty

import mngr
from mngr_tmr.integrate.branch.conflict import Resolve
from mngr_tmr.integrate.gates.runner import Collection, CommandRun
from mngr_tmr.integrate.integrate import integrate
from mngr_tmr.model.integration import Integration
from mngr_tmr.model.kind import commit_kind
from mngr_tmr.model.record import Commit, TaskRecord
from mngr_tmr.model.result import Change, ChangeKind, Claim, Outcome, Result
from mngr_tmr.model.run import RunOptions, RunSpec
from mngr_tmr.model.task import branch_of, make_task
from mngr_tmr.model.verdict import TestRun, Verdict, Verified

Content = str | bytes | None | tuple[str, str]
"""A file's text or bytes, None for a deletion, ("120000", target) for another mode."""


class Untried:
    """A world in which every test passes, for what is about commits alone."""

    def __init__(self, scene: "Scene") -> None:
        self._tests = tuple(record.task.node_id for record in scene.records)

    def collect(self, commit: str) -> Collection:
        return Collection(self._tests)

    def run_tests(self, commit: str, node_ids: Sequence[str]) -> tuple[TestRun, ...]:
        return tuple(TestRun(node_id, "passed") for node_id in node_ids)

    def run_command(self, commit: str, command: str) -> CommandRun:
        return CommandRun(0)


class Work(NamedTuple):
    """One commit of an agent."""

    subject: str
    files: Mapping[str, Content]
    claimed: ChangeKind | None = None
    change: int | None = None


def _make_repository(path: Path) -> None:
    make_empty(path, name="Ada", email="ada@example.com")


class Scene:
    """One repository with a base commit, and a run on it."""

    def __init__(self, folder: Path, files: Mapping[str, Content]) -> None:
        self.repo = folder / "my repo's"
        copy_of(_make_repository, self.repo)
        self.base = self.commits("main", "", [Work("the base", files)])[0]
        self.git("reset", "-q", "--hard")
        self.records: list[TaskRecord] = []
        self.options = RunOptions()
        self.tutorial = ""

    def git(self, *args: str, stdin: bytes = b"") -> str:
        env = {"HOME": str(self.repo.parent), "GIT_CONFIG_NOSYSTEM": "1"}
        return mngr.run_program(["git", *args], cwd=str(self.repo), env=env, stdin=stdin).check("git").text

    def commits(self, branch: str, start: str, works: Sequence[Work]) -> list[str]:
        """Commits on a new branch, written by fast-import, so that any name and mode can be had."""
        stream, marks = bytearray(), self.repo.parent / "marks"
        for number, work in enumerate(works, 1):
            message = work.subject.encode()
            stream += f"commit refs/heads/{branch}\nmark :{number}\n".encode()
            stream += b"committer An Agent <agent@example.com> 1700000000 +0000\n"
            stream += b"data %d\n%s\n" % (len(message), message)
            stream += f"from {start}\n".encode() if number == 1 and start else b""
            for path, content in work.files.items():
                stream += _file_command(path, content)
        self.git("fast-import", "--quiet", "--force", f"--export-marks={marks}", stdin=bytes(stream))
        return [line.split()[1] for line in sorted(marks.read_text().splitlines(), key=_mark)]

    def agent(
        self,
        test: str,
        *works: Work,
        before: Verdict = "failed",
        after: Verdict = "passed",
        outcome: Outcome = "fixed",
        importance: int = 3,
        added: tuple[str, ...] = (),
    ) -> TaskRecord:
        """An agent that did the work on its own branch, was honest about it, and was verified."""
        task = make_task(f"tests/{test}" if "/" not in test else test)
        branch = branch_of("r1", task.slug)
        ids = self.commits(branch, self.base, works) if works else []
        commits = tuple(_commit(oid, work, self.options) for oid, work in zip(ids, works, strict=True))
        tip = ids[-1] if ids else self.base
        record = TaskRecord(
            task=task,
            end="result",
            claim=Claim(
                Result(
                    test=task.node_id,
                    outcome=outcome if ids else "unchanged",
                    passed_before=before == "passed",
                    passed_after=True,
                    summary="done",
                    changes=_changes(commits, works, importance),
                )
            ),
            before=Verified(task.node_id, self.base, before),
            after=Verified(task.node_id, tip, after, added=added),
            branch=branch if ids else "",
            commit=tip,
            commits=commits,
        )
        self.records.append(record)
        return record

    @property
    def run(self) -> RunSpec:
        return RunSpec(
            id="r1",
            repo=str(self.repo),
            base=self.base,
            created_at=1_700_000_000.0,
            tasks=tuple(record.task for record in self.records),
            pytest=("pytest",),
            tutorial=self.tutorial,
            options=self.options,
        )

    def integrate(self, resolve: Resolve | None = None) -> Integration:
        """The branch, untried."""
        return integrate(self.run, self.records, runner=Untried(self), resolve=resolve)

    def show(self, commit: str, path: str) -> str:
        return self.git("show", f"{commit}:{path}")

    def paths(self, commit: str) -> set[str]:
        """What a commit changed."""
        said = self.git("diff-tree", "-r", "-z", "--no-commit-id", "--name-only", "--no-renames", commit)
        return set(said.split("\0")[:-1])


def _commit(oid: str, work: Work, options: RunOptions) -> Commit:
    kind = commit_kind(tuple(work.files), options.implementation)
    return Commit(oid, work.subject.partition("\n")[0], work.claimed or kind, kind, tuple(work.files))


def _changes(commits: Sequence[Commit], works: Sequence[Work], importance: int) -> tuple[Change, ...]:
    """A change for each commit, or for the commits that share a number."""
    together: dict[int, list[int]] = {}
    for number, work in enumerate(works):
        together.setdefault(-number if work.change is None else work.change, []).append(number)
    return tuple(
        Change(
            commits[numbers[0]].claimed or "implementation",
            tuple(commits[number].id for number in numbers),
            works[numbers[0]].subject,
            importance,
        )
        for numbers in together.values()
    )


def _file_command(path: str, content: Content) -> bytes:
    name = json.dumps(path, ensure_ascii=False).encode(errors="surrogateescape")
    if content is None:
        return b"D %s\n" % name
    mode, data = content if isinstance(content, tuple) else ("100644", content)
    if mode == "160000":
        return b"M 160000 %s %s\n" % (str(data).encode(), name)
    raw = data.encode() if isinstance(data, str) else data
    return b"M %s inline %s\ndata %d\n%s\n" % (mode.encode(), name, len(raw), raw)


def _mark(line: str) -> int:
    return int(line.split()[0][1:])
