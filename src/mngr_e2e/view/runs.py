"""Runs on disk: which there are, and each with its tests as rows."""

import os
from collections.abc import Container, Iterable, Sequence

from msgspec import Struct

from mngr_e2e.session.alive import is_alive
from mngr_e2e.view.attempts import NAME, AttemptFolder, TestRunFolder, load_attempts
from mngr_e2e.view.files import entries, try_entries
from mngr_lib.safe_text import one_line
from mngr_view.records import Attempt, Run, Test

TEST_LIMIT = 20_000
_WARNING_LIMIT = 50


class LoadedRun(Struct, frozen=True):
    """A run's rows, and the folders behind them by the key of their detail."""

    run: Run
    attempts: dict[str, AttemptFolder]


def find_runs(artifacts: str) -> list[TestRunFolder]:
    """The runs in a folder of runs, the oldest first; none where there is no such folder."""
    root = os.path.realpath(artifacts)
    found = [entry for entry in try_entries(root) if entry.kind == "folder" and entry.name[0] != "."]
    runs = [TestRunFolder(one_line(one.name), os.path.join(root, one.name), one.changed_ns) for one in found]
    return sorted((run for run in runs if is_run(run.path)), key=lambda run: (run.changed_ns, run.id))


def is_run(path: str) -> bool:
    """Whether a folder holds tests with their attempts."""
    return any(
        NAME.fullmatch(inner.name)
        for entry in try_entries(path)
        if entry.kind == "folder"
        for inner in try_entries(path, entry.name)
    )


def with_own_ids(runs: Iterable[TestRunFolder]) -> tuple[TestRunFolder, ...]:
    """The runs, those with a name that another already has numbered."""
    named: dict[str, TestRunFolder] = {}
    for run in runs:
        name, number = run.id, 1
        while name in named:
            number += 1
            name = f"{run.id} ({number})"
        named[name] = TestRunFolder(name, run.path, run.changed_ns)
    return tuple(named.values())


def load_run(folder: TestRunFolder) -> LoadedRun:
    """Every test that has a folder, as a row; what is wrong with one is said on it."""
    alive = is_alive(folder.path)
    warnings: list[str] = []
    try:
        inside = entries(folder.path)
    except OSError as error:
        inside = []
        warnings.append(f"the run's folder cannot be read: {error.strerror or error}")
    tests = [entry.name for entry in inside if entry.kind == "folder" and entry.name[0] != "."]
    links = [entry.name for entry in inside if entry.kind == "link"]
    warnings += [f"{one_line(name)} is a link and was not followed" for name in links]
    if len(tests) > TEST_LIMIT:
        warnings.append(f"{len(tests):,} tests: the first {TEST_LIMIT:,} are shown")
    rows: dict[str, Test] = {}
    attempts: dict[str, AttemptFolder] = {}
    for name in tests[:TEST_LIMIT]:
        found = tuple(load_attempts(folder, name, is_alive=alive))
        odd = [
            f"{one_line(name)}/{one.name} is no folder and was not opened"
            for one in try_entries(folder.path, name)
            if NAME.fullmatch(one.name) and one.kind != "folder"
        ]
        warnings += odd if found or odd else [f"{one_line(name)} holds no attempt that can be read"]
        if found:
            row = _row(name, found, rows)
            rows[row.id] = row
            attempts.update({one.key: one for one in found})
    return LoadedRun(_run(folder, tuple(rows.values()), alive, warnings), attempts)


def _row(folder: str, found: Sequence[AttemptFolder], taken: Container[str]) -> Test:
    last = found[-1]
    node_id = next((one.node_id for one in reversed(found) if one.node_id), "") or one_line(folder)
    file, _, name = node_id.partition("::")
    return Test(
        id=node_id if node_id not in taken else f"{node_id} ({one_line(folder)})",
        name=name or node_id,
        file=file if name else "",
        status=last.status,
        duration_s=last.duration_s,
        attempts=tuple(Attempt(one.number, one.status, one.start, one.duration_s, one.key) for one in found),
        reason=last.reason,
    )


def _run(folder: TestRunFolder, rows: Sequence[Test], alive: bool, warnings: Sequence[str]) -> Run:
    times = [(one.start, one.start + one.duration_s) for row in rows for one in row.attempts if one.start]
    start = min((begin for begin, _ in times), default=0.0)
    shown = list(warnings[:_WARNING_LIMIT])
    if len(warnings) > _WARNING_LIMIT:
        shown.append(f"and {len(warnings) - _WARNING_LIMIT} more of such")
    return Run(
        id=folder.id,
        title=folder.id,
        start=start,
        tests=tuple(rows),
        duration_s=max((end for _, end in times), default=start) - start,
        is_running=alive,
        warnings=tuple(shown),
    )
