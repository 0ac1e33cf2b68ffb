"""Given to pytest with `-p`: writes what it collected, ran and imported as JSON lines.

Needs pytest 7 and the standard library, so that it works in any project's environment. `MNGR_TMR_ASK` names a JSON
file: `facts` (where to write), `root` (the working copy), `names` (what to import), `wanted` (node ids to run) and
`files` (where to look for tests; the others are not even collected), `run` (the name of the kit's artifacts).
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from typing import Any

import pytest

TEXT_LIMIT = 8000


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
            wanted = set(self.ask["wanted"])
            others = [item for item in items if item.nodeid not in wanted]
            if others:
                items[:] = [item for item in items if item.nodeid in wanted]
                config.hook.pytest_deselected(items=others)

    def collected(self, item: Any, deselected: bool) -> None:
        path, line = str(getattr(item, "path", item.fspath)), item.location[1]
        file = os.path.relpath(os.path.realpath(path), self.ask["root"])
        number = 0 if line is None else line + 1
        self.write("test", node_id=item.nodeid, file=file, line=number, deselected=deselected)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if not self.is_reporter:
            return
        fields = {"when": report.when, "outcome": report.outcome, "duration_s": report.duration}
        text = "" if report.passed else text_of(report)
        expected = getattr(report, "wasxfail", None)
        self.write("ran", node_id=report.nodeid, text=text, xfail=expected is not None, **fields)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        if self.is_collector and self.has_collected:
            for name in self.ask["names"]:
                self.write("origin", what="import " + name, path=origin(name))
        if self.is_reporter:
            self.write("end", code=int(exitstatus))


def origin(name: str) -> str:
    """Where this import comes from in this process; empty when it cannot be imported."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    try:
        spec = spec or importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):
        return ""
    if spec is None:
        return ""
    if spec.has_location and spec.origin:
        return str(spec.origin)
    return next(iter(spec.submodule_search_locations or ()), "")


def text_of(report: Any) -> str:
    """The end of what pytest says of a failure, or why a test was skipped."""
    longrepr = report.longrepr
    if isinstance(longrepr, tuple):
        return str(longrepr[-1])[-TEXT_LIMIT:]
    return str(getattr(report, "longreprtext", longrepr) or getattr(report, "wasxfail", ""))[-TEXT_LIMIT:]
