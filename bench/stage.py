"""A place for one contender: its own home, repository and tmux servers; and the end of all it started."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

_FILES = 40


class Stage(Struct, frozen=True):
    """Where a contender acts. Everything it starts inherits this home, and is found by it."""

    home: str
    repo: str
    env: dict[str, str]

    @property
    def complaints(self) -> str:
        return f"{self.home}/stderr"


@contextmanager
def workshop() -> Iterator[str]:
    """A directory for all stages; at the end, also by Ctrl-C, nothing that ran there is left."""
    root = os.path.realpath(tempfile.mkdtemp(prefix="mngr-bench-"))
    try:
        yield root
    finally:
        end_processes(root)
        for name in os.listdir(root):
            shutil.rmtree(f"{root}/{name}", ignore_errors=True)
        shutil.rmtree(root, ignore_errors=True)


def make_stage(root: str, name: str) -> Stage:
    """A fresh home and a repository with one commit of some files."""
    home, repo = f"{root}/{name}", f"{root}/{name}/repo"
    os.makedirs(f"{home}/tmux", mode=0o700)
    os.makedirs(repo)
    env = {
        "HOME": home,
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "TMUX_TMPDIR": f"{home}/tmux",
        "MNGR_HOST_DIR": f"{home}/.mngr",
    }
    for number in range(_FILES):
        with open(f"{repo}/file-{number}.txt", "w") as file:
            file.write(f"{number}\n" * 100)
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    for words in (("init", "-q"), ("add", "."), (*identity, "commit", "-q", "-m", "files")):
        subprocess.run(("git", *words), cwd=repo, env=env, check=True, stdout=subprocess.DEVNULL)
    return Stage(home, repo, env)


def end_stage(stage: Stage) -> None:
    """Ends what runs on a stage and removes its files."""
    end_processes(stage.home)
    shutil.rmtree(stage.home, ignore_errors=True)


def processes_under(root: str) -> list[int]:
    """The processes whose home is `root` or lies in it; zombies have no environment and do not count."""
    mark = b"\0HOME=" + os.fsencode(root)
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                environ = b"\0" + file.read()
        except OSError:
            continue
        if mark + b"\0" in environ or mark + b"/" in environ:
            found.append(int(name))
    return found


def end_processes(root: str) -> None:
    """Kills by id all that runs under `root`, until nothing does."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        pids = processes_under(root)
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.05)
