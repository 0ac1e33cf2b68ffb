"""The folder of a run: what is where in it, and finding it."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TypeVar

import msgspec

import mngr
from mngr_lib.suggest import did_you_mean
from mngr_tmr.model.run import RunSpec
from mngr_tmr.run_folder.redact import NOTHING_TO_HIDE, Redactor, joined_values, make_redactor
from mngr_tmr.run_folder.writer import RunWriter, write_new

T = TypeVar("T")


class RunFolder:
    """`<repository>/.mngr/tmr/<run>/`, or a folder that was chosen. Only `writer` writes into it."""

    def __init__(self, path: str, redactor: Redactor = NOTHING_TO_HIDE) -> None:
        self.path = os.path.abspath(path)
        self.redactor = redactor
        self.writer = RunWriter(self.path, redactor)
        self.spec = os.path.join(self.path, "run.json")
        self.journal = os.path.join(self.path, "journal.jsonl")
        self.requests = os.path.join(self.path, "requests")
        self.log = os.path.join(self.path, "run.log")
        self.base = os.path.join(self.path, "base.json")
        self.base_dependencies = os.path.join(self.path, "base-dependencies.json")
        self.passes = os.path.join(self.path, "passes.json")
        self.base_artifacts = os.path.join(self.path, "base")
        self.integration = os.path.join(self.path, "integration.json")
        self.pr = os.path.join(self.path, "pr.md")
        self.report = os.path.join(self.path, "report.html")
        self.summary = os.path.join(self.path, "summary.json")
        self.junit = os.path.join(self.path, "junit.xml")

    def attempt(self, task: str, attempt: int) -> str:
        return os.path.join(self.path, "tasks", task, f"attempt-{attempt}")

    def file(self, task: str, attempt: int, name: str) -> str:
        return os.path.join(self.attempt(task, attempt), name)

    def hiding(self, *environments: Mapping[str, str]) -> "RunFolder":
        """The same folder, whose writer leaves out the values of these variables too."""
        values = joined_values(self.redactor.values, *environments)
        if values == self.redactor.values:
            return self
        spec = read_spec(self)
        return RunFolder(self.path, make_redactor(values, spec.repo, spec.base))


def runs_folder(repo: str, out: str = "") -> str:
    return os.path.abspath(out) if out else os.path.join(repo, ".mngr", "tmr")


def make_folder(runs: str, spec: RunSpec) -> RunFolder:
    """Makes the folder of a new run and writes what was asked; a name that is taken is refused."""
    folder = RunFolder(os.path.join(runs, spec.id))
    make_runs_folder(runs)
    try:
        os.mkdir(folder.path, 0o700)
    except FileExistsError:
        raise mngr.RefusedError(
            f'there is a run "{spec.id}" already', hint=f"mngr tmr resume {spec.id}, or another --name"
        ) from None
    folder.writer.write_json(folder.spec, spec)
    return folder


def find_folder(runs: str, run: str) -> RunFolder:
    """The folder of a run by its name, its path, or the newest one for an empty name."""
    if run and os.path.isfile(os.path.join(run, "run.json")):
        return RunFolder(run)
    names = run_names(runs)
    if not run and names:
        return RunFolder(os.path.join(runs, names[-1]))
    if run in names:
        return RunFolder(os.path.join(runs, run))
    known = f"known: {', '.join(names[-5:])}" if names else "mngr tmr run tests/e2e starts one"
    raise mngr.NotFoundError(
        f'no run "{run}"' if run else "no run yet", hint=did_you_mean(run, names, else_hint=known)
    )


def run_names(runs: str) -> list[str]:
    """Every run in a folder of runs, oldest first."""
    found = []
    for name in os.listdir(runs) if os.path.isdir(runs) else ():
        path = os.path.join(runs, name, "run.json")
        if os.path.isfile(path):
            found.append((os.stat(path).st_mtime_ns, name))
    return [name for _, name in sorted(found)]


def read_spec(folder: RunFolder) -> RunSpec:
    return read_json(folder.spec, RunSpec)


def read_json(path: str, kind: type[T]) -> T:
    """A record from a file; a file that is damaged is named."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise mngr.MngrError(f"{path} cannot be read: {error}", hint="was it edited by hand?") from None


def make_runs_folder(runs: str) -> None:
    """The folder of runs. Git is kept away from one inside a repository; a folder that someone chose is theirs."""
    os.makedirs(runs, exist_ok=True)
    if not runs.endswith(os.path.join(".mngr", "tmr")):
        return
    with suppress(FileExistsError):
        write_new(os.path.join(runs, ".gitignore"), b"*\n")
