"""The provider: makes boxes, finds them again, stops, starts and destroys them."""

import os
import select
import signal
import sys

import msgspec

from mngr.plugin import (
    HostRef,
    HostSpec,
    HostState,
    LocalHost,
    MngrError,
    NotFoundError,
    RefusedError,
    UnreachableError,
    check_name,
    did_you_mean,
    locked,
    random_name,
    run,
)
from mngr_box.host import Box, BoxHost, boot_id, start_time

_SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "box.sh")
_SHARED = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Last, because a rootless box may mount a /proc of its own only while it still sees the one from outside.
_CLOSE = "mount -t proc proc /proc && umount -l /.old && rmdir /.old"


class BoxProvider:
    """Boxes here. `<host dir>/providers/box/<name>/` holds `root/` with its files, and `box.json`."""

    name = "box"
    options = frozenset({"offline"})

    def __init__(self, host_dir: str) -> None:
        self._dir = f"{host_dir}/providers/box"

    def create(self, spec: HostSpec) -> BoxHost:
        name = check_name(spec.name or random_name(), "host name")
        os.makedirs(self._dir, mode=0o700, exist_ok=True)
        try:
            os.mkdir(self._path(name), 0o700)
        except FileExistsError:
            raise RefusedError(f'there is a box "{name}" already', hint="choose another name") from None
        try:
            os.mkdir(self._path(name, "root"), 0o755)
            return self._launch(name, spec.offline)
        except BaseException:
            self._remove(name)
            raise

    def open(self, name: str) -> BoxHost:
        box = self._find(name)
        if box is None or not box.is_running:
            raise UnreachableError(
                f'box "{name}" is stopped', hint="starting one of its agents starts it again"
            )
        return BoxHost(name, box)

    def hosts(self) -> list[HostRef]:
        return [HostRef(name, self.name, self._state(name)) for name in self._names()]

    def stop(self, name: str) -> None:
        box = self._find(name)
        if box:
            _end(box)

    def start(self, name: str) -> BoxHost:
        self._find(name)
        with locked(self._path(name, "lock")):
            box = self._find(name)
            if box and box.is_running:
                return BoxHost(name, box)
            return self._launch(name, bool(box and box.offline))

    def destroy(self, name: str) -> None:
        self.stop(name)
        self._remove(name)

    def _launch(self, name: str, offline: bool) -> BoxHost:
        box = _begin(self._path(name, "root"), offline)
        host = BoxHost(name, box)
        try:
            host.run(["sh", "-c", _CLOSE]).check(f'cannot close box "{name}"')
            if offline:
                host.run(["ip", "link", "set", "lo", "up"])
            LocalHost(self._dir).write(self._path(name, "box.json"), msgspec.json.encode(box))
        except BaseException:
            _end(box)
            raise
        return host

    def _find(self, name: str) -> Box | None:
        if name not in self._names():
            raise NotFoundError(f'no box "{name}"', hint=did_you_mean(name, self._names()))
        return self._read(name)

    def _read(self, name: str) -> Box | None:
        """How a box was last started; None where that never came to its end."""
        try:
            with open(self._path(name, "box.json"), "rb") as file:
                return msgspec.json.decode(file.read(), type=Box)
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def _state(self, name: str) -> HostState:
        box = self._read(name)
        return HostState.RUNNING if box and box.is_running else HostState.STOPPED

    def _names(self) -> list[str]:
        """Every directory is a box; files beside them are mngr's own notes about hosts."""
        try:
            with os.scandir(self._dir) as entries:
                return sorted(entry.name for entry in entries if entry.is_dir())
        except FileNotFoundError:
            return []

    def _path(self, *parts: str) -> str:
        return "/".join((self._dir, *parts))

    def _remove(self, name: str) -> None:
        # Its mounts were the box's own and went with its last process: here are only files.
        run(["rm", "-rf", "--", self._path(name)], timeout_s=300).check(f'cannot remove box "{name}"')


def _begin(root: str, offline: bool) -> Box:
    """Starts an init in new namespaces. Everything in the box ends with it, and it ends only when killed."""
    rootless = os.geteuid() != 0
    prefix = sys.base_prefix
    outside_usr = not prefix.startswith("/usr")
    shared = (*_SHARED, prefix) if outside_usr else _SHARED
    flags = (*(("-U", "--map-root-user") if rootless else ()), *(("-n",) if offline else ()), "-m")
    done = run(["unshare", *flags, "sh", _SCRIPT, root, *shared], env={"PATH": _PATH})
    pid = int(done.check("cannot make a box from namespaces").stdout)
    start = start_time(pid)
    if start is None:
        raise MngrError("the box's init ended at once", hint="does this machine limit processes or memory?")
    path = f"{_PATH}:{prefix}/bin" if outside_usr else _PATH
    return Box(pid=pid, start=start, boot=boot_id(), path=path, rootless=rootless, offline=offline)


def _end(box: Box) -> None:
    if not box.is_running:
        return
    fd = os.pidfd_open(box.pid)
    try:
        signal.pidfd_send_signal(fd, signal.SIGKILL)
        # A zombie that is not reaped outside may hold init in its last step for ever: do not wait for that.
        poller = select.poll()
        poller.register(fd, select.POLLIN)
        poller.poll(5000)
    finally:
        os.close(fd)
    if box.is_running:
        raise MngrError(f"process {box.pid} does not end", hint="a process in the box hangs in the kernel")
