"""Runs the test as the orchestrator does, for the agent and for the orchestrator itself."""

from __future__ import annotations

import argparse
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pkgutil import get_data
from typing import Any, NamedTuple

from mngr_tmr.publish.program.config import CONFIG, TIMED_OUT, WRONG_CODE, ProblemError, git
from mngr_tmr.publish.program.origins import INSIDE, OUTSIDE, UNKNOWN, Origins, own_names
from mngr_tmr.publish.program.reads import AccessTimes
from mngr_tmr.publish.program.results import read_tries

SHOWN = 4000
PACKAGE = "mngr_tmr.publish.program"
# A file object that is left to the garbage collector would be a warning in the program: this reads without one.
RUN_FIRST = (
    "import os, _frozen_importlib_external as e; p = {0!r}; "
    "os.path.isfile(p) and exec(e.FileLoader('', p).get_data(p), {{}})\n"
)
NOTES = ("python", "module", "child", "started", "installed")
MADE_BY_TOOLS = re.compile(r"(^|/)(__pycache__|\.pytest_cache|[^/]+\.egg-info)/")


class Seen(NamedTuple):
    """A run of pytest: its exit code, and what the plugin wrote."""

    code: int
    facts: list[dict[str, Any]]


def try_test(description: str, more: list[str]) -> int:
    """Runs the test once, its output as it is, and remembers how it went."""
    name = f"try-{len(read_tries()) + 1}"
    seen = run_pytest(
        ask(wanted=[CONFIG["test"]], files=[CONFIG["file"]], run=name), CONFIG["args"] + more, 0
    )
    own = [fact for fact in seen.facts if fact["kind"] == "ran" and fact["node_id"] == CONFIG["test"]]
    skipped = any(fact["outcome"] == "skipped" for fact in own)
    passed = None if skipped else bool(own) and all(fact["outcome"] == "passed" for fact in own)
    record = {"name": name, "description": description, "passed": passed}
    with open(os.path.join(os.environ["MNGR_AGENT_STATE_DIR"], "tries.jsonl"), "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    print("{}: {}".format(name, {True: "passed", False: "failed", None: "skipped"}[passed]))
    if tell_outside(seen.facts):
        return WRONG_CODE
    tell_unknown(seen.facts)
    return seen.code


def check() -> int:
    """Says where the code under test comes from; WRONG_CODE when any of it lies outside this working copy."""
    order = ask(wanted=None, files=[CONFIG["file"]] if CONFIG["file"] else None)
    with tempfile.TemporaryFile() as output:
        seen = run_pytest(order, ["--collect-only", "-q", *CONFIG["args"]], 0, output)
        output.seek(0)
        shown = output.read().decode("utf-8", "replace")[-SHOWN:]
    for fact in origins(seen.facts, INSIDE):
        print("{what}: {path}, in this working copy".format(**fact))
    for fact in origins(seen.facts, UNKNOWN):
        print("{}: {}, cannot tell whose code it runs".format(fact["what"], fact["path"] or "not found"))
    if tell_outside(seen.facts):
        return WRONG_CODE
    if seen.code:
        print(f"pytest could not collect the test:\n{shown}", file=sys.stderr)
    elif not origins(seen.facts, INSIDE):
        print(
            "no code of this working copy is seen yet; what the test really runs is said by: mngr-result try"
        )
    return seen.code


def origins(facts: list[dict[str, Any]], place: str) -> list[dict[str, Any]]:
    return [fact for fact in facts if fact["kind"] == "origin" and fact["place"] == place]


def tell_outside(facts: list[dict[str, Any]]) -> bool:
    found = origins(facts, OUTSIDE)
    for fact in found:
        print("wrong code under test: {what} comes from {path}, outside this working copy".format(**fact))
    if found:
        print("whatever you change here is not what the test sees: report it as blocked, stage environment")
    return bool(found)


def tell_unknown(facts: list[dict[str, Any]]) -> None:
    unknown = [fact for fact in origins(facts, UNKNOWN) if fact["used"] and fact["node_id"]]
    started = dict.fromkeys("{what} ({path})".format(**fact) for fact in unknown)
    if started and not any(fact["used"] for fact in origins(facts, INSIDE)):
        print("cannot tell which code was tested: the test started {}".format(", ".join(started)))
        print("and nothing shows that code of this working copy ran; a pass does not count until it does")


def ask(**asked: Any) -> dict[str, Any]:
    """The plugin's order; paths in it are relative to the working copy."""
    root = git("rev-parse", "--show-toplevel").rstrip("\n")
    files = asked.get("files")
    names, strong = own_names(root)
    repo = os.path.realpath(CONFIG["repo"]) if CONFIG["repo"] else ""
    return {
        "root": os.path.realpath(root),
        "repo": "" if repo == os.path.realpath(root) else repo,
        "wanted": asked.get("wanted"),
        "files": None if files is None else [os.path.join(root, file) for file in files],
        "run": asked.get("run", ""),
        "names": names,
        "strong": strong,
        "tracked": None,
    }


def run_pytest(order: dict[str, Any], args: list[str], timeout_s: float, output: Any = None) -> Seen:
    """Runs pytest with the plugin in the working copy; at the deadline it ends with all its children."""
    # In the agent's own directory it goes with the agent, also when this is killed.
    folder = tempfile.mkdtemp(prefix="mngr-result-", dir=os.environ.get("MNGR_AGENT_STATE_DIR"))
    facts = os.path.join(folder, "facts.jsonl")
    try:
        sites = own_sites(order["root"])
        order = {**order, "facts": facts, "child": os.path.join(folder, "child.py"), "sites": sites}
        write_plugin(folder, order)
        path = os.pathsep.join(filter(None, (folder, os.environ.get("PYTHONPATH"))))
        env = {**os.environ, "MNGR_TMR_ASK": os.path.join(folder, "ask.json"), "PYTHONPATH": path}
        env["PYTHONDONTWRITEBYTECODE"] = "1"  # a run leaves nothing that `git add --all` would take along
        argv = [*CONFIG["pytest"], "-p", "mngr_tmr_facts", *args]
        with watched_children(order):
            code = run_to_end(argv, env, os.path.join(order["root"], CONFIG["folder"]), timeout_s, output)
        noted = read_facts(facts)
        notes = [fact for fact in noted if fact["kind"] in NOTES]
        found = Origins(order, os.path.join(folder, "mngr_tmr_installed.py")).of(notes)
        return Seen(code, [*(fact for fact in noted if fact["kind"] not in NOTES), *found])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_plugin(folder: str, order: dict[str, Any]) -> None:
    """The plugin, the modules that it needs, and its order."""
    texts = {"mngr_tmr_facts.py": CONFIG["plugin"].encode(), "ask.json": json.dumps(order).encode()}
    for name in ("installed", "started", "child", "reads"):
        texts[f"mngr_tmr_{name}.py"] = get_data(PACKAGE, name + ".py") or b""
    if not order["sites"]:
        os.mkdir(os.path.join(folder, "children"))
        texts["children/sitecustomize.py"] = get_data(PACKAGE, "customize.py") or b""
    for name, text in texts.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(text)


@contextmanager
def watched_children(order: dict[str, Any]) -> Iterator[None]:
    """While it lasts, Python programs of this copy's own environments say which of its code they import.

    Each environment gets a .pth file for as long: it reaches children whatever variables they are given. One that
    a kill left behind does nothing, since the file that it names is gone. Without one the plugin sets PYTHONPATH for
    the children that inherit their variables.
    """
    written = []
    try:
        for site in order["sites"]:
            path = os.path.join(
                site, "mngr-result-{}.pth".format(os.path.basename(os.path.dirname(order["child"])))
            )
            with open(path, "w", encoding="utf-8") as file:
                file.write(RUN_FIRST.format(order["child"]))
            written.append(path)
        yield
    finally:
        for path in written:
            with suppress(OSError):
                os.unlink(path)


def own_sites(root: str) -> list[str]:
    """Where the environments that belong to this working copy alone keep their modules."""
    prefixes = [os.environ.get("MNGR_AGENT_STATE_DIR", "")]
    with suppress(OSError):
        prefixes += [entry.path for entry in os.scandir(root) if entry.is_dir(follow_symlinks=False)]
    own = [prefix for prefix in prefixes if prefix and os.path.isfile(os.path.join(prefix, "pyvenv.cfg"))]
    pattern = os.path.join("lib", "python3*", "site-packages")
    return [site for prefix in own for site in glob.glob(os.path.join(glob.escape(prefix), pattern))]


def run_to_end(argv: list[str], env: dict[str, str], cwd: str, timeout_s: float, output: Any) -> int:
    try:
        child = subprocess.Popen(
            argv,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
            start_new_session=True,
        )
    except OSError as error:
        raise ProblemError(f"cannot run {argv[0]}: {error.strerror}") from None
    try:
        code = child.wait(timeout_s or None)
        return code if code >= 0 else 128 - code
    except subprocess.TimeoutExpired:
        return TIMED_OUT
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        child.wait()


def read_facts(path: str) -> list[dict[str, Any]]:
    """What was written, without what only this program may say; tests and their children may have written too."""
    if not os.path.exists(path):
        return []
    facts = []
    with open(path, "rb") as file:
        for line in file:
            try:
                fact = json.loads(line.decode())
                if fact["kind"] not in ("origin", "observed"):
                    facts.append(fact)
            except (ValueError, KeyError, TypeError):
                continue
    return facts


def judge(options: argparse.Namespace, args: list[str]) -> int:
    """For the orchestrator: runs pytest as asked on stdin, its output on stderr, facts on stdout."""
    asked = json.load(sys.stdin)
    order, observed = ask(**asked), None
    if asked.get("reads"):
        observed = WatchedCopy(order["root"])
        order.update(observed.order)
    seen = run_pytest(order, args, options.timeout, sys.stderr.buffer)
    sys.stderr.flush()
    for fact in [*seen.facts, *(observed.facts(seen.facts) if observed else ())]:
        if fact["kind"] != "watching":
            print(json.dumps(fact))
    return seen.code


class WatchedCopy:
    """What the tests read of the working copy, as far as that can be known here."""

    def __init__(self, root: str) -> None:
        tracked = [path for path in git("-C", root, "ls-files", "-z").split("\0") if path]
        head = os.path.join(root, git("-C", root, "rev-parse", "--git-path", "HEAD").rstrip("\n"))
        self.root, self.times = root, AccessTimes(root, tracked, head)
        self.problem = self.unknown_files() or self.times.problem()
        self.order = {
            "tracked": None if self.problem else tracked,
            "head": head,
            "state": os.environ.get("MNGR_AGENT_STATE_DIR", ""),
        }

    def facts(self, facts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        problem = self.problem
        if not problem and not any(fact["kind"] == "watching" for fact in facts):
            # Workers ran the tests beside each other: all of it is said of all of them.
            found = self.times.take()
            files, folders = sorted(found - self.times.folders), sorted(found & self.times.folders)
            yield {"kind": "reads", "node_id": "", "files": files, "folders": folders, "searched": []}
        for fact in origins(facts, INSIDE):
            if not os.path.realpath(fact["path"]).startswith(self.root + os.sep):
                problem = problem or "its code is installed outside of the working copy"
        changed = git(
            "-C", self.root, "-c", "core.trustctime=false", "status", "--porcelain", "--untracked-files=no"
        )
        is_mixed = bool(changed or self.unknown_files())
        yield {"kind": "observed", "unknown": problem, "mixed": is_mixed}

    def unknown_files(self) -> str:
        """Files that git does not hold: who reads them may depend on any that they were made from."""
        others = git(
            "-C", self.root, "ls-files", "-z", "--others", "--directory", "--no-empty-directory"
        ).split("\0")
        left = [path for path in others if path and not MADE_BY_TOOLS.search(path)]
        return f"git does not hold {left[0]}" if left else ""
