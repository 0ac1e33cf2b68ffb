"""What the page of a run is fed from: the whole as a file, or its parts for the live server."""

import os
import threading
import time
from collections.abc import Iterator
from hashlib import sha256

import mngr
from mngr_e2e.tutorial.blocks import read_blocks
from mngr_e2e.view.tutorial import Script, with_tutorial
from mngr_tmr.git import Repository
from mngr_tmr.model.run import RunSpec
from mngr_tmr.report.data.read_run import RunReader
from mngr_tmr.report.data.report_model import ReportModel, make_report_model
from mngr_tmr.report.data.rows import ReportRow
from mngr_tmr.report.out.page.branch import read_patch
from mngr_tmr.report.out.page.detail import load_tab
from mngr_tmr.report.out.page.page import make_run
from mngr_tmr.report.out.page.tabs import KitTab, Tab, base_tabs, find_tabs, marks_of
from mngr_tmr.report.out.terminal import run_argument
from mngr_tmr.run_folder.folder import RunFolder
from mngr_tmr.run_folder.liveness import is_alive
from mngr_view.records import Index


class TmrSource:
    """One run as the page's records. Read when asked for, so that it is as it is now; safe between threads."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder, self._clean = folder, folder.redactor
        self._reader = RunReader(folder)
        self._lock = threading.Lock()
        self._tabs: dict[str, tuple[Tab, ReportRow]] = {}
        self._commits: dict[str, str] = {}
        self._found: dict[str, tuple[object, tuple[Tab, ...]]] = {}
        self._base: tuple[int, dict[str, tuple[KitTab, ...]]] = (0, {})
        self._script: Script | None = None
        self._repo = ""

    def model(self) -> ReportModel:
        with self._lock:
            return make_report_model(self._reader.read())

    def index(self) -> Index:
        return self.index_of(self.model())

    def index_of(self, model: ReportModel) -> Index:
        """The index of these contents; `chunk` and `chunks` then speak of the same."""
        spec = model.spec
        with self._lock:
            tabs = {row.task.slug: self._tabs_of(row) for row in model.rows if row.record}
            self._tabs = {
                tab.key: (tab, row) for row in model.rows if row.record for tab in tabs[row.task.slug]
            }
            run = self._clean.record(make_run(model, tabs, run_argument(model, self.folder)))
            self._commits = {commit.chunk: commit.id for commit in run.commits}
            self._repo = spec.repo
            script = self._script_of(spec)
        if script is not None:
            cited = {task.node_id: task.blocks for task in spec.tasks if task.blocks}
            run = with_tutorial(run, script, cited, {})
        return Index(f"{spec.id} · mngr tmr", time.time(), (run,))

    def chunk(self, key: str) -> bytes | None:
        """The JSON under a key that the index or a detail names, or None."""
        kind, _, rest = key.partition("/")
        if kind == "commit":
            commit = self._commits.get(key)
            return self._clean.json(read_patch(self._repo, commit)) if commit else None
        found = self._tab(f"detail/{rest.partition('/')[0]}")
        if found is None:
            return None
        detail, recordings = load_tab(*found)
        if kind == "detail":
            return self._clean.json(detail)
        texts = {recording.cast.chunk: recording.tape.text for recording in recordings}
        return self._clean.json(texts[key]) if key in texts else None

    def chunks(self) -> Iterator[tuple[str, bytes]]:
        """All details, recordings and differences of the index that was last made, one in memory at a time."""
        with self._lock:
            tabs, commits = list(self._tabs.items()), dict(self._commits)
        written: set[str] = set()
        for key, (tab, row) in tabs:
            detail, recordings = load_tab(tab, row)
            yield key, self._clean.json(detail)
            for recording in recordings:
                if recording.cast.chunk not in written:
                    written.add(recording.cast.chunk)
                    yield recording.cast.chunk, self._clean.json(recording.tape.text)
        for key, commit in commits.items():
            yield key, self._clean.json(read_patch(self._repo, commit))

    def version(self) -> str:
        """Changes with the journal, which tells of everything, and with what is written after it."""
        folder = self.folder
        digest = sha256(str(is_alive(folder)).encode())
        for path in (folder.journal, folder.base, folder.integration, folder.spec):
            try:
                facts = os.stat(path)
                digest.update(f"{facts.st_mtime_ns} {facts.st_size}\n".encode())
            except OSError:
                digest.update(b"-\n")
        return digest.hexdigest()

    def _tab(self, key: str) -> tuple[Tab, ReportRow] | None:
        """A tab of the last index; one that it did not have may be there by now."""
        with self._lock:
            found = self._tabs.get(key)
        if found is None:
            self.index()
            with self._lock:
                found = self._tabs.get(key)
        return found

    def _tabs_of(self, row: ReportRow) -> tuple[Tab, ...]:
        task = os.path.join(self.folder.path, "tasks", row.task.slug)
        claim = row.record.claim if row.record else None
        mark = (marks_of(task), claim)
        known = self._found.get(row.task.slug)
        if known is None or known[0] != mark:
            known = self._found[row.task.slug] = (mark, find_tabs(task, claim))
        return (*self._base_tabs().get(row.task.node_id, ()), *known[1])

    def _base_tabs(self) -> dict[str, tuple[KitTab, ...]]:
        """Read once the checks at the base are over, which `base.json` tells."""
        try:
            written = os.stat(self.folder.base).st_mtime_ns
        except OSError:
            return {}
        if self._base[0] != written:
            self._base = (written, base_tabs(self.folder.base_artifacts))
        return self._base[1]

    def _script_of(self, spec: RunSpec) -> Script | None:
        """The tutorial at the base commit, read once."""
        if self._script is None and spec.tutorial:
            path = f"{spec.base}:{spec.tutorial}"
            try:
                text = Repository(spec.repo, 0).ask("cat-file", "blob", path).decode(errors="replace")
            except mngr.MngrError as error:
                self._script = Script(spec.tutorial, (), problem=f"the tutorial cannot be read: {error}")
            else:
                self._script = Script(spec.tutorial, read_blocks(text))
        return self._script
