"""What the page asks for, read from artifacts when it asks: the whole page as a file, or its parts for a server."""

import threading
import time
from collections.abc import Iterator
from hashlib import sha256

from msgspec import Struct

from mngr_e2e.session.alive import is_alive
from mngr_e2e.view.attempts import AttemptFolder, TestRunFolder
from mngr_e2e.view.detail import cast_files, load_detail, load_recording, load_recordings
from mngr_e2e.view.files import try_entries
from mngr_e2e.view.runs import LoadedRun, find_runs, load_run, with_own_ids
from mngr_e2e.view.tutorial import Script, cited_tests, with_tutorial
from mngr_view.chunks import encode
from mngr_view.records import Index, Run, Status

_OLDER_RUNS = 20


class Choice(Struct, frozen=True):
    """What to show: these runs, and with `follow` also those that appear in that folder later."""

    runs: tuple[TestRunFolder, ...]
    title: str
    script: Script | None = None
    artifacts: tuple[str, ...] = ()
    follow: str = ""


class E2eSource:
    """The chosen runs as the page's records. Everything is read when asked for, so that it is as it is now."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._lock = threading.Lock()
        self._attempts: dict[str, AttemptFolder] = {}
        self._last = last_statuses(choice)

    def index(self) -> Index:
        """The lists; never fails for what a run's folder holds."""
        loaded = [load_run(folder) for folder in self._runs()]
        with self._lock:
            self._attempts = {key: one for run in loaded for key, one in run.attempts.items()}
        runs = sorted(map(self._finished, loaded), key=lambda run: (-run.start, run.id))
        return Index(self._choice.title, time.time(), tuple(runs))

    def chunk(self, key: str) -> bytes | None:
        """The JSON under a key that the index or a detail names, or None."""
        kind, _, rest = key.partition("/")
        attempt = self._attempt(f"detail/{rest.partition('/')[0]}")
        if attempt is None:
            return None
        if kind == "detail":
            return encode(load_detail(attempt, list(load_recordings(attempt))))
        for entry in cast_files(attempt):
            if attempt.cast_key(entry.name) == key:
                return encode(load_recording(attempt, entry.name).tape.text)
        return None

    def version(self) -> str:
        """Changes when something that is shown has changed; looks at folders and reads no file."""
        digest = sha256()
        for run in self._runs():
            digest.update(f"{run.id}{is_alive(run.path)}".encode())
            for test in try_entries(run.path):
                if test.kind == "folder":
                    for attempt in try_entries(run.path, test.name):
                        if attempt.kind == "folder":
                            names = (test.name, attempt.name)
                            for entry in (
                                *try_entries(run.path, *names),
                                *try_entries(run.path, *names, "casts"),
                            ):
                                line = f"{'/'.join(names)}/{entry.name} {entry.size} {entry.changed_ns}\n"
                                digest.update(line.encode(errors="replace"))
        return digest.hexdigest()

    def chunks(self) -> Iterator[tuple[str, bytes]]:
        """All details and recordings of the index that was last made, one attempt in memory at a time."""
        with self._lock:
            attempts = list(self._attempts.items())
        for key, attempt in attempts:
            recordings = list(load_recordings(attempt))
            yield key, encode(load_detail(attempt, recordings))
            for recording in recordings:
                yield recording.cast.chunk, encode(recording.tape.text)

    def _attempt(self, key: str) -> AttemptFolder | None:
        """An attempt as its `meta.json` is now; one that the last index did not have may be there by now."""
        with self._lock:
            found = self._attempts.get(key)
        if found is None or found.status == "running":
            self.index()
        with self._lock:
            return self._attempts.get(key)

    def _runs(self) -> tuple[TestRunFolder, ...]:
        runs = self._choice.runs
        if self._choice.follow:
            known = {run.path for run in runs}
            since = max((run.changed_ns for run in runs), default=0)
            found = find_runs(self._choice.follow)
            runs += tuple(run for run in found if run.path not in known and run.changed_ns > since)
        return with_own_ids(runs)

    def _finished(self, loaded: LoadedRun) -> Run:
        script = self._choice.script
        if script is None:
            return loaded.run
        cited = {row.id: loaded.attempts[row.attempts[-1].chunk].citations for row in loaded.run.tests}
        return with_tutorial(loaded.run, script, cited, self._last)


def last_statuses(choice: Choice) -> dict[str, Status]:
    """How tests that are cited ended in the newest other run that has them; looks at the newest few only."""
    cited = cited_tests(choice.script) if choice.script else set()
    last: dict[str, Status] = {}
    if not cited:
        return last
    runs = [run for folder in choice.artifacts for run in find_runs(folder)]
    for run in sorted(runs, key=lambda run: -run.changed_ns)[:_OLDER_RUNS]:
        for row in load_run(run).run.tests:
            last.setdefault(row.id, row.status)
    return last
