"""Which files of the working copy the tests read, whatever program did it: their access times tell.

The access time of every file is set to a mark; a file that any process reads, runs or maps gets another one, and so
does a folder that is listed. Standalone and for Python 3.8.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

MARK = 1_000_000_000
MOST_FILES = 20_000
LONGEST_TEXT = 1 << 20
HEAD = ".git/HEAD"
CACHE = "__pycache__"


class AccessTimes:
    """The files that git holds of a working copy and their folders, by their paths from its top."""

    def __init__(self, root: str, files: Iterable[str], head: str = "") -> None:
        self.root, self.files = root, set(files)
        self.folders = {""}
        for path in self.files:
            while os.path.dirname(path) not in self.folders:
                path = os.path.dirname(path)
                self.folders.add(path)
            self.folders.add(os.path.dirname(path))
        self._paths = {path: os.path.join(root, path) for path in (*self.files, *self.folders)}
        self._head, self._modified = head, {}  # type: str, dict[str, int]
        if head:
            self._paths[HEAD] = head

    def take(self) -> set[str]:
        """What was read, listed or changed since the last call."""
        found = set()
        for path, place in self._paths.items():
            try:
                facts = os.lstat(place)
                before = self._modified.setdefault(path, facts.st_mtime_ns)
                is_same = before == facts.st_mtime_ns or path in self.folders
                if facts.st_atime_ns != MARK or not is_same:
                    found.add(path)
                    self._modified[path] = facts.st_mtime_ns
                    os.utime(place, ns=(MARK, facts.st_mtime_ns), follow_symlinks=False)
            except FileNotFoundError:
                found.add(path)
        return found | self._compiled()

    def _compiled(self) -> set[str]:
        """The sources of compiled modules that were read in their place."""
        found = set()
        for folder in self.folders:
            cache = os.path.join(self._paths[folder], CACHE)
            if not os.path.isdir(cache):
                continue
            for name in os.listdir(cache):
                path, place = os.path.join(folder, name.partition(".")[0] + ".py"), os.path.join(cache, name)
                facts = os.lstat(place)
                if path in self.files and facts.st_atime_ns != MARK:
                    found.add(path)
                    os.utime(place, ns=(MARK, facts.st_mtime_ns), follow_symlinks=False)
        return found

    def problem(self) -> str:
        """Why reading cannot be seen here; empty when it was tried and can."""
        if len(self.files) > MOST_FILES:
            return f"there are more than {MOST_FILES} files"
        try:
            self.take()
            device = os.lstat(self.root).st_dev
            if any(os.lstat(place).st_dev != device for place in self._paths.values()):
                return "not all files are on one file system"
            regular = [path for path in self.files if stat.S_ISREG(os.lstat(self._paths[path]).st_mode)]
            read, copied = [*regular, *regular][:1], [*regular, *regular][1:2]
            for path in read:
                with open(self._paths[path], "rb") as file:
                    file.read(1)
            with tempfile.TemporaryDirectory() as folder:
                for path in copied:
                    subprocess.run(["cp", self._paths[path], folder], check=False, stderr=subprocess.DEVNULL)
            os.listdir(self.root)
            expected = {*read, *copied, ""}
            return "" if expected <= self.take() else "this file system does not keep access times"
        except OSError as error:
            return f"access times cannot be set: {error.strerror}"


class ReadsOfTests:
    """Notes in pytest's own process what each test reads; `write` takes a fact.

    What pytest's process itself reads stays in its memory for the tests that follow, and so may what a fixture of more
    than one test reads, or a test whose processes live on: all of that counts for every test.
    """

    def __init__(self, order: dict[str, Any], write: Callable[..., None]) -> None:
        self._times = AccessTimes(order["root"], order["tracked"], order["head"])
        self._write, self._state = write, order["state"]
        self._shared, self._listed, self._own = set(), set(), {}  # type: set[str], set[str], dict[str, set[str]]
        self._is_begun, self._searched = False, set()  # type: bool, set[str]
        self._now = set()  # type: set[str]
        self._before = self._processes()
        sys.addaudithook(self._hook)

    @contextmanager
    def test(self, node_id: str) -> Iterator[None]:
        if not self._is_begun:
            self._write("watching")
            self._is_begun, found = True, self._times.take()
            self._shared |= found - self._times.folders
            self._searched = found & self._times.folders
        self._now = set()
        yield
        self._now |= self._times.take()
        self._own.setdefault(node_id, set()).update(self._now)
        alive = self._processes()
        if alive is None or self._before is None or alive - self._before:
            self._shared |= self._now

    @contextmanager
    def wide_fixture(self) -> Iterator[None]:
        """The setup of a fixture that more than one test may use."""
        self._now |= self._times.take() if self._is_begun else set()
        yield
        if self._is_begun:
            found = self._times.take()
            self._now |= found
            self._shared |= found

    def tell(self, test_files: Iterable[str]) -> None:
        """Writes what each test depends on; the file of another test only where something may use it."""
        if not self._is_begun:
            return
        folders = self._times.folders
        unused = self._unused(set(test_files))
        shared = self._shared - unused
        searched, listed = sorted(self._searched), sorted((self._listed | shared) & folders)
        self._write("reads", node_id="", files=sorted(shared - folders), folders=listed, searched=searched)
        for node_id, found in self._own.items():
            own = found - shared
            self._write(
                "reads",
                node_id=node_id,
                files=sorted(own - folders),
                folders=sorted(own & folders),
                searched=[],
            )

    def _unused(self, test_files: set[str]) -> set[str]:
        """Test files that nothing else which was read names, and whose folder no code of the project lists."""
        texts = {path: self._text(path) for path in self._shared if path in self._times.files}
        return {
            path
            for path in test_files
            if os.path.dirname(path) not in self._listed
            and not any(
                other != path and os.path.basename(path).partition(".")[0].encode() in text
                for other, text in texts.items()
            )
        }

    def _text(self, path: str) -> bytes:
        try:
            with open(os.path.join(self._times.root, path), "rb") as file:
                return file.read(LONGEST_TEXT)
        except OSError:
            return b""

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if event not in ("open", "os.listdir", "os.scandir"):
            return
        try:
            place = os.path.realpath(os.fsdecode(args[0] if args[0] is not None else "."))
            path = os.path.relpath(place, self._times.root)
            path = "" if path == "." else path
            if event == "open" and path in self._times.files:
                self._shared.add(path)
            elif event == "open" and os.path.basename(os.path.dirname(path)) == CACHE:
                folder, name = os.path.split(path)
                source = os.path.join(os.path.dirname(folder), name.partition(".")[0] + ".py")
                self._shared.update({source} & self._times.files)
            elif event != "open" and path in self._times.folders and self._is_asked_by_project():
                self._listed.add(path)
        except Exception:
            # An error in an audit hook would become one of the test that opened the file.
            pass

    def _is_asked_by_project(self) -> bool:
        frame = sys._getframe(2)  # type: Any
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith("<frozen importlib") or "_pytest" in name:
                return False
            if name.startswith(self._times.root + os.sep):
                return True
            frame = frame.f_back
        return False

    def _processes(self) -> set[str] | None:
        """The processes of this working copy, as their environments tell; None where these cannot be read."""
        sign, found = b"MNGR_AGENT_STATE_DIR=" + os.fsencode(self._state) + b"\0", set()
        try:
            names = [name for name in os.listdir("/proc") if name.isdigit()]
        except OSError:
            return None
        for name in names:
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if sign in file.read() + b"\0":
                        found.add(name)
            except OSError:
                continue
        return found if self._state and str(os.getpid()) in found else None


def environment_mark() -> str:
    """A digest of this Python's version and of the distributions that it finds."""
    found: set[str] = set()
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        found.update(name for name in names if name.endswith((".dist-info", ".egg-info")))
    return hashlib.sha256("\n".join((sys.version, *sorted(found))).encode("utf-8", "replace")).hexdigest()[
        :16
    ]
