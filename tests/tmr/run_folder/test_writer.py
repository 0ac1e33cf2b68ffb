"""Nothing but the writer writes a file of a run."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import mngr_tmr

PACKAGE = Path(mngr_tmr.__file__).parent
BUNDLED = ("zoo/project", "example/project")
ELSEWHERE = {
    "run_folder/writer.py": "it is the writer",
    "run_folder/folder.py": "makes the empty folder of a run",
    "engine/journal.py": "appends entries that were cleaned",
    "publish/program/results.py": "runs on the agent's host",
    "publish/program/judging.py": "runs on the agent's host",
    "publish/program/sharing.py": "runs on the agent's host",
    "publish/program/child.py": "runs on the agent's host",
    "publish/program/reads.py": "runs on the agent's host",
    "publish/program/environment.py": "runs on the agent's host",
    "publish/program/installing.py": "runs on the agent's host",
    "publish/pytest_facts.py": "runs on the agent's host",
    "history/index.py": "the index of past runs, made from what was cleaned",
    "git.py": "a temporary index",
    "integrate/branch/insertions.py": "temporary files for git",
    "integrate/gates/local_runner.py": "temporary checkouts",
    "integrate/gates/checkout.py": "temporary checkouts",
    "integrate/publish/push.py": "a temporary home for gh",
    "report/out/markdown.py": "the file that GitHub names, with text that was cleaned",
    "demo/setup.py": "the demo's own repository",
    "demo/ending.py": "a link to the demo's page",
    "example/make.py": "the demo's own repository",
    "example/many.py": "the demo's own repository",
}
WRITING = {
    "os": {
        "write",
        "mkdir",
        "makedirs",
        "rename",
        "replace",
        "symlink",
        "link",
        "mkfifo",
        "mknod",
        "truncate",
    },
    "shutil": {"copy", "copy2", "copyfile", "copytree", "copyfileobj", "move"},
    "tempfile": {"mkstemp", "mkdtemp", "TemporaryDirectory", "NamedTemporaryFile", "TemporaryFile"},
}
PATHS = {"write_text", "write_bytes", "touch", "symlink_to", "hardlink_to"}


@pytest.mark.accept("Q13")
def test_only_the_writer_writes_files_of_a_run() -> None:
    """TH-H5: redaction wraps every writer, because there is one."""
    found = {
        path: writes
        for file in sorted(PACKAGE.rglob("*.py"))
        if (path := str(file.relative_to(PACKAGE))) and not path.startswith(BUNDLED)
        if (writes := list(writes_of(ast.parse(file.read_text()))))
    }
    assert {path: writes for path, writes in found.items() if path not in ELSEWHERE} == {}
    assert sorted(found) == sorted(ELSEWHERE)


def test_a_writer_that_is_planted_is_seen() -> None:
    planted = """
open(path, "w")
open(path, mode="ab")
Path("x").write_text("y")
os.write(1, b"")
os.open(path, os.O_WRONLY | os.O_CREAT)
shutil.copytree(a, b)
tempfile.mkstemp()
open(path)
open(path, "rb")
os.open(path, os.O_RDONLY)
text.replace("a", "b")
"""
    assert [line for line, _ in writes_of(ast.parse(planted))] == [2, 3, 4, 5, 6, 7, 8]


def writes_of(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The calls that can change a file, by line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _writes(node):
            yield node.lineno, ast.unparse(node)[:80]


def _writes(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id == "open" and bool(set(_mode(call)) & set("wax+"))
    if not isinstance(function, ast.Attribute):
        return False
    owner = function.value.id if isinstance(function.value, ast.Name) else ""
    if (owner, function.attr) == ("os", "open"):
        return any(flag in ast.unparse(call) for flag in ("O_WRONLY", "O_RDWR", "O_CREAT"))
    return function.attr in WRITING.get(owner, ()) or function.attr in PATHS


def _mode(call: ast.Call) -> str:
    """The mode of an `open`; one that is no literal counts as writing."""
    given = [word.value for word in call.keywords if word.arg == "mode"] or call.args[1:2]
    if not given:
        return "r"
    return str(given[0].value) if isinstance(given[0], ast.Constant) else "w"
