"""What `mngr_lib` has is written once: no package replaces files, reads /proc or joins threads itself."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"
# Programs of their own: they run beside an agent or in another project, without our packages.
_ALONE = {
    "mngr/agents/scripted/program/state_files.py",
    "mngr_tmr/publish/program/installing.py",
    "mngr_tmr/publish/program/results.py",
}
_RENAMES = _ALONE | {
    "mngr/transfer/files.py",  # a received folder, below a directory that is open
    "mngr_e2e/session/world/left_over.py",  # a lock that is held before it has its name
    "mngr_tmr/demo/ending.py",  # a symbolic link
    "mngr_tmr/demo/setup.py",  # a folder
    "mngr_tmr/example/make.py",  # a folder
    "mngr_tmr/run_folder/writer.py",  # a folder
}
_JOINS = {
    "mngr/actions/exec.py",  # a thread that reads a pipe and says for how long nothing came
    "mngr/testing/hosts/providers.py",  # asks whether the thread still hangs
    "mngr/transfer/pack.py",  # a thread that reads a pipe
    "mngr_tmr/demo/setup.py",  # threads of a run that was interrupted
    "mngr_tmr/report/reporter.py",  # a loop, not a result
    "mngr_tmr/run/ends.py",  # steps that report to the journal
}


def calls(source: str) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            yield node, ast.unparse(node.func)


def renames(source: str) -> list[int]:
    names = (
        "os.replace",
        "os.rename",
        "tempfile.mkstemp",
        "mkstemp",
        "tempfile.NamedTemporaryFile",
        "shutil.move",
    )
    return [call.lineno for call, name in calls(source) if name in names]


def proc_readers(source: str) -> list[int]:
    return [
        call.lineno
        for call, name in calls(source)
        if call.args
        and name.split(".")[-1] in ("open", "listdir", "scandir", "readlink", "Path", "isdir", "exists")
        if ast.unparse(call.args[0]).lstrip("f").startswith(("'/proc", '"/proc'))
    ]


def suggestions(source: str) -> list[int]:
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Name | ast.Attribute | ast.alias)
        and "get_close_matches"
        in (getattr(node, "id", ""), getattr(node, "attr", ""), getattr(node, "name", ""))
    ]


def joined_threads(source: str) -> list[int]:
    return [
        call.lineno
        for call, name in calls(source)
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == "join"
        and any(part in name.lower() for part in ("thread", "worker", "pump", "left[0]"))
    ]


def thread_pools(source: str) -> list[int]:
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Name | ast.Attribute | ast.alias) and "PoolExecutor" in ast.unparse(node)
    ]


@pytest.mark.accept("H4")
@pytest.mark.parametrize(
    ("find", "home", "others"),
    [
        (renames, "mngr_lib/files.py", _RENAMES),
        (proc_readers, "mngr_lib/proc.py", {"mngr_tmr/publish/program/reads.py"}),
        (suggestions, "mngr_lib/suggest.py", {"mngr_tmr/publish/program/results.py"}),
        (joined_threads, "mngr_lib/threads.py", _JOINS),
        # Pieces of a page are compressed in order while others are still being read.
        (thread_pools, "", {"mngr_view/chunks.py"}),
    ],
)
def test_it_is_written_once(find: Callable[[str], list[int]], home: str, others: set[str]) -> None:
    found = {
        str(path.relative_to(SRC)): lines
        for path in sorted(SRC.rglob("*.py"))
        if "project" not in path.parts and (lines := find(path.read_text()))
    }
    assert not home or found.pop(home)
    assert set(found) == others, {name: lines for name, lines in found.items() if name not in others}


@pytest.mark.parametrize(
    ("find", "planted"),
    [
        (renames, "os.replace(new, path)"),
        (renames, "fd, name = tempfile.mkstemp(dir=folder)"),
        (proc_readers, 'open(f"/proc/{pid}/stat", "rb")'),
        (proc_readers, 'os.listdir("/proc")'),
        (suggestions, "from difflib import get_close_matches"),
        (suggestions, "difflib.get_close_matches(word, known)"),
        (joined_threads, "for thread in threads:\n    thread.join()"),
        (joined_threads, "self._thread.join(5)"),
        (thread_pools, "from concurrent.futures import ThreadPoolExecutor"),
        (thread_pools, "with futures.ProcessPoolExecutor(2) as pool:\n    pass"),
    ],
)
def test_a_copy_is_seen(find: Callable[[str], list[int]], planted: str) -> None:
    assert find(planted)
