"""Given to pytest with `-p`: writes what it collected, ran and imported as JSON lines.

Needs pytest 7 and the standard library, so that it works in any project's environment. `MNGR_TMR_ASK` names a JSON
file: `facts` (where to write), `root` (the working copy), `repo` (the checkout it was made from), `names` (modules of
the project; `strong` are those that are packages), `wanted` (node ids to run) and `files` (where to look for tests; the
others are not even collected), `run` (the name of the kit's artifacts), `child` (where to write what Python programs
that the tests start run first), `tracked` (the files whose reading is noted by test, None: not at all).
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

TEXT_LIMIT = 8000
# Written beside this file: they are shared with the program that gave it to pytest.
installed: Any = importlib.import_module("mngr_tmr_installed")
started: Any = importlib.import_module("mngr_tmr_started")
reads: Any = importlib.import_module("mngr_tmr_reads")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: Any) -> None:
    worker = getattr(config, "workerinput", None)
    ask = read_ask() if worker is None else worker.get("mngr_tmr")
    if ask:
        is_first_worker = worker is not None and worker.get("workerid") == "gw0"
        config.pluginmanager.register(Facts(config, ask, worker is None, worker is None or is_first_worker))


def read_ask() -> Any:
    """The order, taken out of the environment so that what the tests start sees nothing of it."""
    path = os.environ.pop("MNGR_TMR_ASK", "")
    if not path:
        return None
    here = os.path.dirname(os.path.abspath(__file__))
    rest = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part != here]
    os.environ.pop("PYTHONPATH", None)
    if rest:
        os.environ["PYTHONPATH"] = os.pathsep.join(rest)
    children = os.path.join(here, "children")
    if os.path.isdir(children):
        # Past os.environ, which tests look at: only what inherits the variables of this process gets it.
        os.putenv("PYTHONPATH", os.pathsep.join([children, *rest]))
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Facts:
    """Writes lines as things happen, so that a run that is killed still told what it knew."""

    def __init__(self, config: Any, ask: Any, is_reporter: bool, is_collector: bool) -> None:
        self.ask, self.is_reporter, self.is_collector = ask, is_reporter, is_collector
        self.has_collected = False
        self.files = None if ask["files"] is None else {os.path.realpath(path) for path in ask["files"]}
        config.option.maxfail = 0
        if ask["run"] and getattr(config.option, "e2e_run", "") is None:
            config.option.e2e_run = ask["run"]
        if is_reporter:
            self.look_at_distributions()
        self.started = started.StartedPrograms(self.write)
        self.started.watch()
        self.reads = (
            reads.ReadsOfTests(ask, self.write) if is_reporter and ask["tracked"] is not None else None
        )
        self.test_files: set[str] = set()

    def look_at_distributions(self) -> None:
        """What this interpreter has of the project; its names are what programs are asked for."""
        ask = self.ask
        self.write("python", bin=os.path.dirname(sys.executable))
        self.write("environment", mark=reads.environment_mark())
        for found in installed.distributions(ask["root"], ask["repo"], ask["strong"]):
            self.write("installed", **found)
            ask["strong"] = sorted({*ask["strong"], *found["names"]})
        ask["names"] = sorted({*ask["names"], *ask["strong"]})
        known = {"FACTS": ask["facts"], "ROOTS": (ask["root"], ask["repo"]), "NAMES": ask["names"]}
        with open(os.path.join(os.path.dirname(__file__), "mngr_tmr_child.py"), encoding="utf-8") as file:
            text = "".join(f"{name} = {value!r}\n" for name, value in known.items()) + file.read()
        with open(ask["child"], "w", encoding="utf-8") as file:
            file.write(text)

    def write(self, kind: str, **fields: Any) -> None:
        line = json.dumps({"kind": kind, **fields}).encode() + b"\n"
        fd = os.open(self.ask["facts"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(fd, line)
        finally:
            os.close(fd)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["mngr_tmr"] = self.ask

    def pytest_ignore_collect(self, collection_path: Any) -> Any:
        if self.files is None or collection_path.is_dir() or collection_path.name == "__init__.py":
            return None
        return True if os.path.realpath(str(collection_path)) not in self.files else None

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and self.is_reporter:
            self.write("broken", node_id=report.nodeid, text=text_of(report))

    def pytest_deselected(self, items: Any) -> None:
        if self.is_collector and not self.has_collected:
            for item in items:
                self.collected(item, deselected=True)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: Any) -> None:
        if self.is_collector:
            for item in items:
                self.collected(item, deselected=False)
        self.has_collected = True
        if self.ask["wanted"] is not None:
            node_ids = set(self.ask["wanted"])
            others = [item for item in items if item.nodeid not in node_ids]
            if others:
                items[:] = [item for item in items if item.nodeid in node_ids]
                config.hook.pytest_deselected(items=others)

    def collected(self, item: Any, deselected: bool) -> None:
        path, line = str(getattr(item, "path", item.fspath)), item.location[1]
        file = os.path.relpath(os.path.realpath(path), self.ask["root"])
        number = 0 if line is None else line + 1
        self.test_files.add(file)
        self.write("test", node_id=item.nodeid, file=file, line=number, deselected=deselected)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if not self.is_reporter:
            return
        fields = {"when": report.when, "outcome": report.outcome, "duration_s": report.duration}
        text = "" if report.passed else text_of(report)
        expected = getattr(report, "wasxfail", None)
        self.write("ran", node_id=report.nodeid, text=text, xfail=expected is not None, **fields)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        self.started.node_id = item.nodeid
        with self.reads.test(item.nodeid) if self.reads else nullcontext():
            yield
        self.started.node_id = ""

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        with self.reads.wide_fixture() if self.reads and fixturedef.scope != "function" else nullcontext():
            yield

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        if self.has_collected:
            for name, path, used in self.modules():
                self.write("module", name=name, path=path, used=used)
        if self.reads:
            self.reads.tell(self.test_files)
        if self.is_reporter:
            self.write("end", code=int(exitstatus))

    def modules(self) -> Iterator[tuple[str, str, bool]]:
        """The project's modules: those that were imported, and where the others would come from."""
        root, repo, strong = self.ask["root"], self.ask["repo"], set(self.ask["strong"])
        names = {*self.ask["names"], *installed.loaded(root), *installed.loaded(repo)}
        for folder in [path for path in sys.path if path and installed.lies_in(path, root)]:
            if not installed.is_test_code(os.path.join(folder, "x"), root):
                names.update(installed.importable(folder))
        for name in sorted(names):
            path, used = installed.origin(name), name in sys.modules
            is_theirs = (
                used or name in strong or installed.lies_in(path, root) or installed.lies_in(path, repo)
            )
            if path and is_theirs:
                yield name, path, used


def text_of(report: Any) -> str:
    """The end of what pytest says of a failure, or why a test was skipped."""
    longrepr = report.longrepr
    if isinstance(longrepr, tuple):
        return str(longrepr[-1])[-TEXT_LIMIT:]
    return str(getattr(report, "longreprtext", longrepr) or getattr(report, "wasxfail", ""))[-TEXT_LIMIT:]
