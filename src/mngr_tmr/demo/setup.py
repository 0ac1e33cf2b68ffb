"""Where a demo happens: a repository and its runs in a folder of the user's, agents and all else in a temporary one."""

import fcntl
import os
import shutil
import signal
import site
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count

from msgspec import Struct

import mngr
from mngr_tmr.example.make import Example, make_example, plays_folder
from mngr_tmr.git import run_git
from mngr_tmr.run_folder.folder import runs_folder

_NAME = "demo"
_PREFIX = "mngr-demo-"
_ENOUGH_S = 30.0
# The first that can leave its plugins out by a flag.
_PYTEST_AT_LEAST = (8, 4)
# A user's own settings of git, such as signing, would stop at a question that is never answered.
_PLAIN_GIT = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}


class DemoSetup(Struct, frozen=True):
    """What a demo has: `folder` and what is in it stays, `host_dir` goes."""

    folder: str
    host_dir: str
    example: Example
    base: str

    @property
    def page(self) -> str:
        return os.path.join(self.folder, "page.html")

    @property
    def run(self) -> str:
        """A name for the next run here; half a folder, of one that was interrupted at once, takes a name too."""
        runs = runs_folder(self.example.repo)
        taken = set(os.listdir(runs) if os.path.isdir(runs) else ())
        return next(name for number in count(1) if (name := f"{_NAME}-{number}") not in taken)


@contextmanager
def set_up_demo(folder: str, *, keep: bool) -> Iterator[DemoSetup]:
    """Makes what is missing in `folder`; on leaving, by whatever way, ends all that runs and removes all but it.

    Again in the same folder is safe: the repository is used again, from its first commit. What a demo that was
    killed left is removed first.
    """
    folder = os.path.abspath(folder)
    had = [path for path in (folder, os.path.join(folder, "pantry")) if os.path.lexists(path)]
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise mngr.MngrError(
            f"cannot make {folder}: {error.strerror}", hint="choose another folder: mngr demo --dir DIR"
        ) from None
    with _held(os.path.join(folder, ".demo")) as note:
        if _is_ours(left := note.read()):
            _strike(left)
        temp = tempfile.mkdtemp(prefix=_PREFIX)
        note.write(temp)
        try:
            # What reads a home, a host dir or a temporary folder finds one that goes with the demo.
            own = {"HOME": f"{temp}/home", "TMPDIR": f"{temp}/tmp"}
            for path in own.values():
                os.mkdir(path)
            own |= {**_PLAIN_GIT, "MNGR_HOST_DIR": f"{temp}/h", "LC_ALL": "C.UTF-8"}
            with _environment(own):
                _check_machine()
                example, base = _repository(folder)
                yield DemoSetup(folder, os.environ["MNGR_HOST_DIR"], example, base)
        finally:
            with _undisturbed():
                _strike(temp)
                note.write("")
                _tidy(folder, had, keep=keep)


def user_packages() -> dict[str, str]:
    """What tells a Python with another home where the packages are that this user installed."""
    return {"PYTHONUSERBASE": site.getuserbase()} if site.ENABLE_USER_SITE else {}


def _check_machine() -> None:
    """One error that names all that is missing, and the way out for each."""
    bad = [one for one in mngr.examine() if not one.ok and one.severity == "error"]
    try:
        import pytest

        # The example runs without foreign plugins.
        wrong = "" if pytest.version_tuple >= _PYTEST_AT_LEAST else f"{pytest.__version__} is too old"
    except ImportError:
        wrong = "not installed"
    if wrong:
        fix = "pip install 'mngr-agents[demo]'"
        bad.append(mngr.Finding("pytest", False, "error", f"{wrong} (the example's tests)", fix))
    if bad:
        found = "; ".join(f"{one.name}: {one.found}" for one in bad)
        raise mngr.MngrError(f"the demo cannot run here: {found}", hint="; ".join(one.fix for one in bad))


def _repository(folder: str) -> tuple[Example, str]:
    """The example's repository, made where there is none, and its first commit."""
    repo = os.path.join(folder, "pantry")
    if not os.path.lexists(repo):
        with open(os.path.join(folder, ".gitignore"), "w") as file:
            file.write("*\n")
        half = tempfile.mkdtemp(prefix=".pantry-", dir=folder)
        try:
            os.rename(make_example(os.path.join(half, "pantry")).repo, repo)
        finally:
            shutil.rmtree(half)
    done = run_git(repo, "rev-list", "--max-parents=0", "main")
    if done.code or not os.path.isfile(os.path.join(repo, "pantry", "shelf.py")):
        raise mngr.RefusedError(
            f"{repo} is not the example's repository", hint="choose another folder: mngr demo --dir DIR"
        )
    return Example(repo, plays_folder()), done.text.split()[-1]


def _is_ours(path: str) -> bool:
    """Whether a demo can have made that: the note that names it lies where anyone may have put it."""
    folder, name = os.path.split(path)
    if folder != tempfile.gettempdir() or not name.startswith(_PREFIX) or os.path.islink(path):
        return False
    return os.path.isdir(path) and os.stat(path).st_uid == os.geteuid()


def _strike(temp: str) -> None:
    """Ends the agents of a host dir in there and removes it; what a thread of ours was still making goes too."""
    if not os.path.isdir(temp):
        return
    deadline = time.monotonic() + _ENOUGH_S
    for thread in threading.enumerate():
        if thread.name.startswith("tmr-"):
            thread.join(max(0.0, deadline - time.monotonic()))
    manager = mngr.Manager(cwd=temp, env={**os.environ, "MNGR_HOST_DIR": os.path.join(temp, "h")})
    while agents := mngr.list_agents(manager=manager).agents:
        try:
            mngr.destroy(agents, manager=manager)
        except mngr.MngrError:
            if time.monotonic() > deadline:
                raise
    mngr.remove_garbage(mngr.find_garbage(manager=manager), manager=manager)
    # The terminal of a test whose pytest was ended belongs to no agent; its arguments name the folder.
    while time.monotonic() < deadline:
        lines = mngr.run_program(["ps", "-A", "-o", "pid=,args="]).text.splitlines()
        left = {int(line.split(maxsplit=1)[0]) for line in lines if f"{temp}/" in line} - {os.getpid()}
        if not left:
            break
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
    shutil.rmtree(temp, ignore_errors=True)


def _tidy(folder: str, had: list[str], *, keep: bool) -> None:
    """Takes away what is not to be kept of what this demo made, and a folder that it made for nothing."""
    repo = os.path.join(folder, "pantry")
    if not keep and repo not in had:
        shutil.rmtree(repo, ignore_errors=True)
    if not os.path.lexists(repo):
        for name in ("page.html", ".gitignore", ".demo"):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))
        if folder not in had:
            os.rmdir(folder)


class _Note:
    """A file that is locked while its demo runs and says what would be left if that were killed."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def read(self) -> str:
        return os.pread(self._fd, 4096, 0).decode()

    def write(self, text: str) -> None:
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, text.encode(), 0)


@contextmanager
def _held(path: str) -> Iterator[_Note]:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise mngr.RefusedError(
                f"a demo is running in {os.path.dirname(path)}", hint="choose another folder: --dir DIR"
            ) from None
        yield _Note(fd)
    finally:
        os.close(fd)


@contextmanager
def _environment(changes: dict[str, str]) -> Iterator[None]:
    """Our own environment for a while: git, which we start ourselves, reads it as much as agents do."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(("MNGR_", "TMUX")):
            del os.environ[name]
    os.environ.update(changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Someone who is impatient while we clean up would only leave more behind."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [(number, signal.signal(number, signal.SIG_IGN)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
