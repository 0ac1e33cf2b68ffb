"""Machines for tests: each a box with a network of its own and a real sshd, that can be cut off, slowed and filled."""

import os
import random
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mngr_box.host import BoxHost
from mngr_box.provider import BoxProvider
from tests.support.needs import needs
from tests.support.relay import Relay

from mngr import process
from mngr.hosts.ssh.provider import SshProvider, socket_folder
from mngr.model.host import HostSpec
from mngr.process import Completed, wait_until
from mngr.testing.waiting import PATIENCE_S

_SSHD = """
Port 22
HostKey /root/sshd/host_key
AuthorizedKeysFile /root/sshd/authorized_keys
PidFile /root/sshd/pid
StrictModes no
UsePAM no
UseDNS no
PrintMotd no
PermitRootLogin prohibit-password
SetEnv {env}
{more}
"""
_ENTRY = """
Host {name}
  HostName {address}
  User root
  IdentityFile {folder}/key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
"""


@pytest.fixture
def machines(tmp_path: Path) -> "Iterator[Machines]":
    """No machine yet; those that a test adds are gone afterwards."""
    need_machines()
    made = Machines(tmp_path)
    try:
        yield made
    finally:
        made.end()


def need_machines() -> None:
    """What every test with machines needs of this one."""
    needs("root, to make networks", "test", "-w", "/proc/sys/net/ipv4/ip_forward")
    needs("sshd (openssh-server)", "test", "-x", "/usr/sbin/sshd")
    needs("ssh (openssh-client)", "ssh", "-V")
    needs("network namespaces (iproute2)", "unshare", "-n", "ip", "link", "set", "lo", "up")
    needs("a packet filter (iptables)", "unshare", "-n", "iptables", "-L", "-n")


class Machine:
    """A machine: files, processes and a network of its own, and sshd at `address`."""

    def __init__(self, name: str, box: BoxHost, address: str, link: str) -> None:
        self.name, self.box, self.address, self.link = name, box, address, link
        self.pid = str(box._box.pid)

    def run(self, script: str) -> Completed:
        """Shell lines on the machine, without ssh."""
        return self.box.run(["sh", "-c", script]).check(script)

    def net(self, *argv: str) -> Completed:
        """A command of this machine in that one's network."""
        return process.run(["nsenter", "-t", self.pid, "-n", *argv]).check(" ".join(argv))

    def configure_sshd(self, more: str, env: dict[str, str]) -> None:
        known = {"PATH": self.box._box.path, "LANG": "C.UTF-8", **env}
        words = " ".join(f"{name}={value}" for name, value in known.items())
        self.box.write("/root/sshd/config", _SSHD.format(env=words, more=more).encode())

    def start_sshd(self) -> None:
        self.run("mkdir -p /run/sshd; chmod 755 /run/sshd; exec /usr/sbin/sshd -f /root/sshd/config")
        assert wait_until(lambda: "LISTEN" in self.net("ss", "-ltn").text, PATIENCE_S)

    def stop_sshd(self) -> None:
        """No sshd and no connection any more; what runs on the machine goes on."""
        self.run("for p in $(pgrep -x sshd); do kill -9 $p; done")

    def cut_off(self) -> None:
        """Packets to and from it vanish, as when a cable is pulled somewhere."""
        for chain in ("INPUT", "OUTPUT"):
            self.net("iptables", "-A", chain, "!", "-i" if chain == "INPUT" else "-o", "lo", "-j", "DROP")

    def join(self) -> None:
        """Undoes `cut_off`."""
        self.net("iptables", "-F")

    def slow_down(self, rate: str = "1mbit") -> None:
        limit = ("root", "tbf", "rate", rate, "burst", "8kb", "latency", "400ms")
        process.run(["tc", "qdisc", "add", "dev", self.link, *limit]).check("tc here")
        self.net("tc", "qdisc", "add", "dev", "eth0", *limit)


class Machines:
    """Some machines and the ssh config that leads to them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "ssh"
        self.folder.mkdir()
        self.config = self.folder / "config"
        self.config.write_text("")
        self.machines: dict[str, Machine] = {}
        self._boxes = BoxProvider(str(self.folder))
        self._folders: set[str] = set()
        _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / "key"))

    def add(self, name: str, sshd: str = "", **env: str) -> Machine:
        """A new machine; `sshd` is more for its sshd_config, `env` for its environment."""
        box = self._boxes.create(HostSpec(name=name, offline=True))
        address, link = _plug_in(str(box._box.pid))
        machine = self.machines[name] = Machine(name, box, address, link)
        box.write("/root/sshd/authorized_keys", (self.folder / "key.pub").read_bytes())
        machine.run("ssh-keygen -q -t ed25519 -N '' -f /root/sshd/host_key")
        machine.configure_sshd(sshd, env)
        machine.start_sshd()
        with open(self.folder / "known_hosts", "ab") as known:
            known.write(address.encode() + b" " + box.read("/root/sshd/host_key.pub"))
        self.config.write_text(
            self.config.read_text() + _ENTRY.format(name=name, address=address, folder=self.folder)
        )
        return machine

    def settings(self, **more: Any) -> dict[str, Any]:
        """What `[providers.ssh]` says of them."""
        return {"config": str(self.config), "hosts": {name: {} for name in self.machines}, **more}

    def provider(self, host_dir: Path, **more: Any) -> SshProvider:
        self._folders.add(socket_folder(str(host_dir)))
        provider = SshProvider(str(host_dir))
        provider.configure(self.settings(**more))
        return provider

    @contextmanager
    def relay(self, machine: Machine, *, delay_s: float = 0.0, drop_first: int = 0) -> Iterator[int]:
        """A port of this machine that leads to that one, slowly or not at first."""
        relay = Relay((machine.address, 22), delay_s, drop_first)
        try:
            yield relay.port
        finally:
            relay.close()

    def end(self) -> None:
        """Ends every machine and every ssh of ours; called by the fixture, also after a failure."""
        for pid in self.clients():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for ref in self._boxes.hosts():
            self._boxes.destroy(ref.name)
        for machine in self.machines.values():
            process.run(
                ["ip", "link", "delete", machine.link]
            )  # or its network went first, and took it along
        assert wait_until(lambda: not self.clients(), PATIENCE_S), self.clients()
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)
        links = ["ip", "-o", "link", "show", "type", "veth"]
        left = [machine.link for machine in self.machines.values() if machine.link in process.run(links).text]
        assert not left

    def clients(self) -> list[int]:
        """Our ssh clients and masters: they name this config, or keep its sockets."""
        return _with_words(os.fsencode(self.config))


def _plug_in(pid: str) -> tuple[str, str]:
    """A cable between this machine and the network of a process; the far address, and the name of our end."""
    chance = random.SystemRandom()
    label = f"mg{chance.randrange(1 << 32):08x}"
    here = there = ""
    while not here or f" {here}\n" in Path("/proc/net/fib_trie").read_text():  # another machine's
        base, last = f"10.{chance.randrange(128, 250)}.{chance.randrange(256)}", 4 * chance.randrange(64)
        here, there = (f"{base}.{last + step}" for step in (1, 2))
    _run("ip", "link", "add", label, "type", "veth", "peer", "name", "eth0", "netns", pid)
    _run("ip", "addr", "add", f"{here}/30", "dev", label)
    _run("ip", "link", "set", label, "up")
    inside = ("nsenter", "-t", pid, "-n", "ip")
    _run(*inside, "addr", "add", f"{there}/30", "dev", "eth0")
    _run(*inside, "link", "set", "eth0", "up")
    return there, label


def _with_words(words: bytes) -> list[int]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if words in line and line.startswith(b"ssh") and state not in "ZX":
            found.append(int(pid))
    return found


def _run(*argv: str) -> None:
    process.run(argv).check(" ".join(argv))
