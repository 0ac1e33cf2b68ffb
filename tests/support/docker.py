"""A Docker engine of the tests' own: started once for a run, shared by its workers, ended with the last of them.

It has its own socket, images and containers in the run's temporary folder, and no network but the machine's. A guard
beside it ends it also when the tests are killed.
"""

import fcntl
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
from tests.support.needs import needs
from tests.support.processes import start_detached

from mngr import process
from mngr.hosts.docker.provider import DockerProvider
from mngr.process import Completed, wait_until

ROOT = Path(__file__).parents[2]
ARCHIVE = ROOT / "build/docker/base.tar"
BASE, BARE, TINY = "mngr-tests:base", "mngr-tests:bare", "mngr-tests:tiny"
_START_S = 120.0
_IMAGE_S = 1200.0

# $1 the engine's folder, $2 names the run. It ends the engine when the last process named in `users` is gone.
_GUARD = """cd "$1"
start() {
  dockerd --host "unix://$1/socket" --data-root "$1/data" --exec-root "$1/exec" --pidfile "$1/pid" \\
    --bridge none --iptables=false --ip-masq=false --ip-forward=false >>"$1/log" 2>&1 </dev/null &
  engine=$!
}
end() { kill "$engine" 2>/dev/null; wait "$engine"; }
used() {
  for user in users/*; do pid=${user#users/}; kill -0 "${pid%-*}" 2>/dev/null && return 0; done
  return 1
}
start "$1"
while used; do
  [ ! -e restart ] || { end; start "$1"; rm -f restart; }
  sleep 0.2
done
docker --host "unix://$1/socket" ps -aq 2>/dev/null | xargs -r docker --host "unix://$1/socket" rm -f >/dev/null 2>&1
end
for mount in $(cut -d' ' -f2 /proc/self/mounts | grep "^$1/"); do umount -l "$mount" 2>/dev/null; done
rm -rf data exec socket pid users
"""


class Engine:
    """A running engine; `settings` is what `[providers.docker]` must say to use it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = f"unix://{folder}/socket"

    def settings(self, namespace: str, **more: object) -> dict[str, object]:
        return {
            "command": "docker",
            "host": self.address,
            "image": BASE,
            "bootstrap": False,
            "namespace": namespace,
            "network": "host",
            **more,
        }

    def provider(self, namespace: str, **more: object) -> DockerProvider:
        made = DockerProvider("/nowhere")
        made.configure(self.settings(namespace, **more))
        return made

    def docker(self, *words: str, stdin: bytes = b"", timeout_s: float = 120) -> Completed:
        return process.run(("docker", "--host", self.address, *words), stdin=stdin, timeout_s=timeout_s)

    def containers(self, namespace: str) -> list[str]:
        """The names of all containers of a namespace, whatever their state."""
        shown = ("--filter", f"label=mngr.namespace={namespace}", "--format", "{{.Names}}")
        return self.docker("ps", "-a", *shown).check("docker ps").text.split()

    def clear(self, namespace: str) -> None:
        """Removes containers and snapshots of a namespace."""
        if found := self.containers(namespace):
            self.docker("rm", "-f", "-v", *found)
        kept = self.docker("images", "-q", "--filter", f"label=mngr.snapshots={namespace}").text.split()
        if kept:
            self.docker("rmi", "-f", *dict.fromkeys(kept))

    def restart(self) -> None:
        """Ends the engine, which ends its containers, and starts it again."""
        (self.folder / "restart").touch()
        assert wait_until(lambda: not (self.folder / "restart").exists() and _answers(self), _START_S)


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The engine of this run, with the images that tests use."""
    needs("root, for a Docker engine of its own", "sh", "-c", '[ "$(id -u)" = 0 ]')
    needs("a Docker engine (Debian's docker.io)", "sh", "-c", "command -v dockerd docker")
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    with running(shared / "docker") as started:
        yield started


@contextmanager
def running(asked: Path, *, only_base: bool = False) -> Iterator[Engine]:
    """An engine in that folder, or in a shorter one: the one that runs there, or a new one."""
    folder = _short(asked)
    lock = folder.with_name(f"{folder.name}.lock")
    user = folder / "users" / f"{os.getpid()}-{os.urandom(4).hex()}"
    made = Engine(folder)
    try:
        with _locked(lock):
            (folder / "users").mkdir(mode=0o700, parents=True, exist_ok=True)
            user.touch()
            if not (folder / "socket").exists():
                start_detached("sh", "-c", _GUARD, "mngr-guard", str(folder), str(asked))
            assert wait_until(lambda: _answers(made), _START_S), (folder / "log").read_text()[-2000:]
            _add_images(made, only_base)
        yield made
    finally:
        with _locked(lock):
            user.unlink(missing_ok=True)
            if not any((folder / "users").iterdir()):
                assert wait_until(lambda: not (folder / "users").exists(), _START_S), (
                    "the engine does not end"
                )
                if folder != asked:
                    shutil.rmtree(folder)
                    lock.unlink()


def _short(folder: Path) -> Path:
    """A folder whose sockets have names that the kernel takes: 107 letters, of which containerd needs 40."""
    return folder if len(str(folder)) <= 60 else Path(f"/tmp/mngr-docker-{zlib.crc32(bytes(folder)):08x}")


def _answers(engine: Engine) -> bool:
    return engine.docker("version", "--format", "{{.Server.Version}}").code == 0


def _add_images(engine: Engine, only_base: bool) -> None:
    if BASE in engine.docker("images", "--format", "{{.Repository}}:{{.Tag}}").text.split():
        return
    with _locked(ROOT / "build/docker.lock"):
        if not ARCHIVE.exists():
            needs("mmdebstrap", "sh", "-c", "command -v mmdebstrap")
            process.run([str(ROOT / "tools/docker-base"), str(ARCHIVE)], timeout_s=_IMAGE_S).check(
                "cannot make the base image"
            )
    engine.docker("import", str(ARCHIVE), BASE, timeout_s=_IMAGE_S).check("docker import")
    if not only_base:
        _make_bare(engine)
        _make_tiny(engine)


def _make_bare(engine: Engine) -> None:
    """The same without tmux and git; apt-get can install both from a folder in it."""
    words = ("run", "--name", "bare", "--network", "none", BASE, "dpkg", "--purge", "tmux", "git", "git-man")
    engine.docker(*words).check("removing tmux and git")
    engine.docker("commit", "bare", BARE).check("docker commit")
    engine.docker("rm", "bare")


def _make_tiny(engine: Engine) -> None:
    """busybox and what it is linked with, nothing else."""
    root = engine.folder / "tiny"
    # Of an engine that ended when its last user did, and is needed again.
    shutil.rmtree(root, ignore_errors=True)
    busybox = shutil.which("busybox") or "busybox"
    linked = process.run(["sh", "-c", 'ldd "$1" 2>/dev/null | grep -o "/[^ ]*"', "sh", busybox]).text.split()
    for source in (busybox, *linked):
        target = root / ("bin/busybox" if source == busybox else source.lstrip("/"))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    (root / "etc").mkdir()
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    process.run(["chroot", str(root), "/bin/busybox", "--install", "-s", "/bin"]).check("busybox")
    archive = process.run(["tar", "-C", str(root), "-c", "."]).check("tar").stdout
    engine.docker("import", "-", TINY, stdin=archive).check("docker import")


@contextmanager
def _locked(path: Path) -> Iterator[IO[str]]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
