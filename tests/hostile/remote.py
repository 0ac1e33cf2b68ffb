"""A hostile host: a second user of this machine behind a real sshd on loopback, who may forge every file of its own."""

import os
import pwd
import shutil
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from tests.support.needs import needs
from tests.support.world import World

from mngr import process
from mngr.actions.manager import Manager
from mngr.hosts.ssh.host import SshHost
from mngr.hosts.ssh.provider import SshProvider, socket_folder
from mngr.model.agent import Agent
from mngr.process import Completed, wait_until
from mngr.store.paths import AgentPaths, HostPaths
from mngr.testing.waiting import PATIENCE_S
from mngr.tmux.server import tmux

NAME = "evil"
_COMMENT = "mngr-tests"
_SSHD = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile {folder}/pid
AllowUsers {user}
StrictModes no
UsePAM no
UseDNS no
PrintMotd no
SetEnv PATH={path} LANG=C.UTF-8
"""
_CLIENT = """
Host {name}
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
"""


class OtherUser:
    """A user without privileges, with a home of its own that sshd leads to."""

    def __init__(self, name: str, folder: Path, port: int) -> None:
        self.name, self.folder, self.port = name, folder, port
        self.home = os.path.expanduser(f"~{name}")
        self.config = folder / "config"

    def run(self, script: str) -> Completed:
        """Shell lines as that user, without ssh."""
        argv = ("runuser", "-u", self.name, "--", "sh", "-c", f"cd && {script}")
        env = {"HOME": self.home, "LANG": "C.UTF-8"}
        return process.run(argv, env=env, cwd="/").check(script)

    def processes(self) -> list[int]:
        uid, found = os.stat(self.home).st_uid, []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.stat(f"/proc/{pid}").st_uid != uid:
                    continue
                if (
                    Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
                    not in "ZX"
                ):
                    found.append(int(pid))
            except OSError:
                continue
        return found

    def end_processes(self) -> None:
        """Ends all that runs as that user."""

        def is_quiet() -> bool:
            for pid in self.processes():
                _kill(pid)
            return not self.processes()

        assert wait_until(is_quiet, PATIENCE_S), self.processes()


@contextmanager
def other_user(folder: Path) -> Iterator[OtherUser]:
    """Makes a user and its sshd; both are gone afterwards, also after a failure."""
    needs("root, to make a user", "test", "-w", "/etc/passwd")
    needs("useradd and userdel", "useradd", "--help")
    needs("userdel", "userdel", "--help")
    needs("runuser (util-linux)", "runuser", "--help")
    needs("sshd (openssh-server)", "test", "-x", "/usr/sbin/sshd")
    needs("mount namespaces", "unshare", "-m", "true")
    for left in pwd.getpwall():
        _remove_left_over(left)
    name = f"mngr{os.urandom(4).hex()}"
    # "*" is a password that fits nothing; the default "!" means a locked account, which sshd refuses.
    words = (
        "--create-home",
        "--shell",
        "/bin/sh",
        "--password",
        "*",
        "--comment",
        _owner(os.getpid(), folder),
    )
    make = ("useradd", *words, name)
    try:
        # Workers of one run share /etc/passwd, whose lock useradd does not wait for.
        assert wait_until(lambda: process.run(make).code == 0, PATIENCE_S)
        user = OtherUser(name, folder, _free_port())
        try:
            _start_sshd(user)
            yield user
        finally:
            _stop_sshd(folder)
            user.end_processes()
    finally:
        _remove_user(name)


def _owner(pid: int, folder: Path) -> str:
    """What a user's entry says of the test run that made it: the process, when it started, and its folder."""
    try:
        start = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    except OSError:
        start = ""
    return f"{_COMMENT} {pid} {start} {folder}"


def _remove_left_over(entry: pwd.struct_passwd) -> None:
    """Removes a user, and its sshd, whose test run was killed before it could."""
    words = entry.pw_gecos.split(" ")
    if len(words) != 4 or words[0] != _COMMENT or not words[1].isdigit():
        return
    folder = Path(words[3])
    if _owner(int(words[1]), folder) == entry.pw_gecos:
        return
    user = OtherUser(entry.pw_name, folder, 0)
    _stop_sshd(folder)
    if os.path.isdir(user.home):
        user.end_processes()
    _remove_user(user.name)
    shutil.rmtree(folder, ignore_errors=True)


def _remove_user(name: str) -> None:
    # 6: there is no such user any more; 12: its home cannot be removed by userdel.
    assert wait_until(lambda: process.run(("userdel", "-r", "-f", name)).code in (0, 6, 12), PATIENCE_S)
    shutil.rmtree(f"/home/{name}", ignore_errors=True)


class Remote:
    """A world and a host of it that belongs to another user; each test has a host dir of its own there."""

    def __init__(self, world: World, user: OtherUser) -> None:
        self.world, self.user = world, user
        self.dir = f"{user.home}/{os.urandom(4).hex()}"
        self.paths = HostPaths(self.dir)
        self._folders: set[str] = set()
        self._host_dirs: set[str] = set()
        self.manager = self.manager_of(str(world.host_dir), str(world.repo))

    def manager_of(self, host_dir: str, cwd: str) -> Manager:
        """A manager of this machine; with another host dir it is what a second machine would be."""
        os.makedirs(host_dir, mode=0o700, exist_ok=True)
        machine = f'[providers.ssh.hosts.{NAME}]\ndir = "{self.dir}"\n'
        Path(host_dir, "config.toml").write_text(f'[providers.ssh]\nconfig = "{self.user.config}"\n{machine}')
        provider = SshProvider(host_dir)
        provider.configure({"config": str(self.user.config), "hosts": {NAME: {"dir": self.dir}}})
        self._folders.add(socket_folder(host_dir))
        self._host_dirs.add(host_dir)
        env = {**self.world.env, "MNGR_HOST_DIR": host_dir}
        return Manager(cwd=cwd, env=env, providers={"ssh": provider})

    @property
    def host(self) -> SshHost:
        host = self.manager.provider("ssh").open(NAME)
        assert isinstance(host, SshHost)
        return host

    def agent(self, agent: Agent) -> AgentPaths:
        return self.paths.agent(agent.id)

    def write(self, path: str, data: bytes, mode: int = 0o600) -> None:
        """A file of that user, written by it."""
        self.host.write(path, data, mode)

    def forge(self, agent: Agent, **fields: Any) -> None:
        """Changes fields of an agent's record, as its host can at any time."""
        path = self.agent(agent).spec
        spec = msgspec.json.decode(self.host.read(path))
        self.write(path, msgspec.json.encode({**spec, **fields}))

    def forge_event(self, agent: Agent, kind: str, **data: Any) -> None:
        """Adds an event to an agent's log."""
        path = self.agent(agent).events
        line = msgspec.json.encode({"at": int(time.time()), "kind": kind, "data": data}) + b"\n"
        self.write(path, self.host.read(path) + line)

    def commit(self, agent: Agent, script: str = "echo work >work") -> str:
        """A commit in the agent's working copy; returns its id."""
        git = "git -c user.name=n -c user.email=n@example.com"
        lines = (
            f"cd '{agent.work_dir}' && {script} && git add -A && {git} commit -qm work && git rev-parse HEAD"
        )
        return self.user.run(lines).text.strip()

    def is_there(self, path: str) -> bool:
        return self.host.run(("test", "-e", path)).code == 0

    def end(self) -> None:
        """Ends all that runs on the host and every ssh of ours, and removes the host dir."""
        for pid in self._clients():
            _kill(pid)
        self.user.end_processes()
        for host_dir in self._host_dirs:
            process.run(tmux(HostPaths(host_dir), "kill-server"))
        assert wait_until(lambda: not self._clients(), PATIENCE_S)
        shutil.rmtree(self.dir, ignore_errors=True)
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)

    def _clients(self) -> list[int]:
        """ssh clients and masters that use this user's config."""
        return _with_words(os.fsencode(self.user.config), b"ssh")


def portrait(*folders: Path) -> dict[str, tuple[int, bytes]]:
    """Every file, link and directory below folders, with mode and content: equal means that nothing changed."""
    found: dict[str, tuple[int, bytes]] = {}
    for folder in folders:
        for top, names, files in os.walk(folder):
            for path in (os.path.join(top, name) for name in (*names, *files)):
                mode = os.lstat(path).st_mode
                if os.path.islink(path):
                    found[path] = (mode, os.fsencode(os.readlink(path)))
                else:
                    found[path] = (mode, Path(path).read_bytes() if os.path.isfile(path) else b"")
    return found


def _start_sshd(user: OtherUser) -> None:
    folder = user.folder
    for key in ("key", "host_key"):
        process.run(("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key))).check(key)
    (folder / "authorized_keys").write_bytes((folder / "key.pub").read_bytes())
    _share(folder)
    path = os.environ["PATH"].replace(" ", "")
    facts = {"port": user.port, "folder": folder, "user": user.name, "name": NAME, "path": path}
    (folder / "sshd_config").write_text(_SSHD.format(**facts))
    user.config.write_text(_CLIENT.format(**facts))
    public = (folder / "host_key.pub").read_text()
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{user.port} {public}")
    # sshd wants /run/sshd: it gets a /run of its own, and this machine's stays as it is.
    start = f"mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && exec /usr/sbin/sshd -f '{folder}/sshd_config'"
    process.run(("unshare", "-m", "sh", "-c", start), env={"PATH": path}).check("sshd")
    assert wait_until(lambda: (folder / "pid").exists() and _listens(user.port), PATIENCE_S)


def _stop_sshd(folder: Path) -> None:
    def is_gone() -> bool:
        for pid in _with_words(os.fsencode(folder / "sshd_config"), b"sshd"):
            _kill(pid)
        return not _with_words(os.fsencode(folder / "sshd_config"), b"sshd")

    assert wait_until(is_gone, PATIENCE_S)


def _share(folder: Path) -> None:
    """sshd reads authorized_keys as the user who logs in."""
    (folder / "authorized_keys").chmod(0o644)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as knock:
        return knock.connect_ex(("127.0.0.1", port)) == 0


def _with_words(words: bytes, program: bytes) -> list[int]:
    """Processes of a program that name something in their command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if words in line and program in line.split(b"\0")[0]:
            found.append(int(pid))
    return found


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
