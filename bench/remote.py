"""Hosts elsewhere: one sshd on loopback that plays ten machines, each behind a line of its own.

Alone: `python bench/remote.py`.
"""

import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench.ours import PROGRAM, Ours
from bench.results import Remote
from bench.stage import Stage, end_stage, make_stage, workshop
from bench.timing import time_step
from tests.support.relay import Relay

import mngr
from mngr.actions.manager import Manager
from mngr.hosts.ssh.provider import SshProvider, socket_folder

HOSTS, AGENTS = 10, 10
_LATE_S = 0.2
_SSHD = "/usr/sbin/sshd"
_CONFIG = """
Port {port}
ListenAddress 127.0.0.1
HostKey {home}/host_key
AuthorizedKeysFile {home}/key.pub
PidFile {home}/sshd.pid
StrictModes no
UsePAM no
MaxStartups 100
PermitRootLogin yes
SetEnv HOME={home} PATH={path} LANG=C.UTF-8
"""
_CLIENT = """
Host 127.0.0.1
  HostKeyAlias bench
  IdentityFile {home}/key
  IdentitiesOnly yes
  UserKnownHostsFile {home}/known_hosts
  StrictHostKeyChecking yes
"""


class NoSshdError(Exception):
    """There is no sshd to measure against."""


def measure_remote(root: str, reps: int) -> Remote:
    """A second command, `list` over one and ten hosts near and far, and how soon an end is noticed."""
    if not os.access(_SSHD, os.X_OK) or os.geteuid() != 0:
        raise NoSshdError("ssh was left out: it needs root and openssh-server")
    stage = make_stage(root, "remote")
    try:
        with _sshd(stage) as port:
            bare_s, second_s = _second_command(stage, port, 5 * reps)
            near = _lists(stage, port, 0.0, reps)
            far = _lists(stage, port, _LATE_S / 2, reps)
            noticed_s = _noticed(stage, port, min(reps, 5))
    finally:
        shutil.rmtree(socket_folder(stage.env["MNGR_HOST_DIR"]), ignore_errors=True)
        end_stage(stage)
    return Remote(HOSTS, AGENTS, _LATE_S, bare_s, second_s, *near, *far, noticed_s)


@contextmanager
def _sshd(stage: Stage) -> Iterator[int]:
    home, port = stage.home, _free_port()
    for name in ("key", "host_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{home}/{name}"], check=True)
    with open(f"{home}/host_key.pub") as key, open(f"{home}/known_hosts", "w") as known:
        known.write("bench " + key.read())
    server = _CONFIG.format(home=home, port=port, path=os.environ["PATH"])
    for name, content in (("sshd_config", server), ("ssh_config", _CLIENT.format(home=home))):
        with open(f"{home}/{name}", "w") as file:
            file.write(content)
    os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
    child = subprocess.Popen(
        [_SSHD, "-D", "-f", f"{home}/sshd_config"], env=stage.env, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for(port)
        yield port
    finally:
        child.kill()
        child.wait()


def _second_command(stage: Stage, port: int, reps: int) -> tuple[float, float]:
    """A bare `ssh` over a shared connection, and our `run` over it, in turns."""
    host = _provider(stage, {"h0": port}).open("h0")
    bare = host._way.argv("-T", "-o", "BatchMode=yes")
    times: dict[str, list[float]] = {"bare": [], "ours": []}
    for _ in range(reps + 1):
        began = time.perf_counter()
        subprocess.run([*bare, "true"], env=stage.env, stdin=subprocess.DEVNULL, check=True)
        middle = time.perf_counter()
        host.run(["true"]).check("true")
        times["bare"].append(middle - began)
        times["ours"].append(time.perf_counter() - middle)
    host.disconnect()
    return statistics.median(times["bare"][1:]), statistics.median(times["ours"][1:])


def _lists(stage: Stage, port: int, delay_s: float, reps: int) -> tuple[float, float]:
    """`mngr list` of one host and of all, over lines that are so late each way."""
    ours = Ours(stage)
    with ExitStack() as lines:
        relays = [Relay(("127.0.0.1", port), delay_s) for _ in range(HOSTS)]
        for relay in relays:
            lines.callback(relay.close)
        ports = {f"h{number}": relay.port for number, relay in enumerate(relays)}
        _write_config(stage, ports)
        if not delay_s:
            _fill(stage, ports)
        one, ten = ours.list("--host", "h0"), ours.list("--provider", "ssh")
        times: dict[str, list[float]] = {"one": [], "ten": []}
        time_step(stage, ten)  # connects
        for _ in range(reps + 1):
            times["one"].append(time_step(stage, one))
            times["ten"].append(time_step(stage, ten))
        provider = _provider(stage, ports)
        for name in ports:
            provider.open(name).disconnect()
    return statistics.median(times["one"][1:]), statistics.median(times["ten"][1:])


def _fill(stage: Stage, ports: Mapping[str, int]) -> None:
    manager = _manager(stage, ports)
    wanted = [
        (name, mngr.CreateSpec(name=name, args=PROGRAM, transfer="none"))
        for host in ports
        for name in (f"{host}-{number}@{host}.ssh:{stage.repo}" for number in range(AGENTS))
    ]
    for name, made in mngr.create_many(wanted, jobs=4, manager=manager):
        if isinstance(made, mngr.MngrError):
            raise RuntimeError(f"{name}: {made.message}")


def _noticed(stage: Stage, port: int, reps: int) -> float:
    """Seconds from an agent's last breath to our knowing of it, at the most."""
    manager, late = _manager(stage, {"h0": port}), []
    for number in range(reps):
        end = f"{stage.home}/ended-{number}"
        script = 'sleep 1; date +%s.%N >"$1"'
        mngr.create(
            f"end-{number}@h0.ssh:{stage.repo}",
            args=("sh", "-c", script, "sh", end),
            transfer="none",
            manager=manager,
        )
        list(mngr.wait(f"end-{number}@h0.ssh", until="done", timeout_s=60, manager=manager))
        with open(end) as file:
            late.append(time.time() - float(file.read()))
    manager.open_host("h0", "ssh").disconnect()  # type: ignore[attr-defined]
    return max(late)


def _manager(stage: Stage, ports: Mapping[str, int]) -> Manager:
    return Manager(cwd=stage.repo, env=stage.env, providers={"ssh": _provider(stage, ports)})


def _provider(stage: Stage, ports: Mapping[str, int]) -> SshProvider:
    provider = SshProvider(stage.env["MNGR_HOST_DIR"])
    hosts = {
        name: {"address": "127.0.0.1", "port": port, "dir": f"{stage.home}/hosts/{name}"}
        for name, port in ports.items()
    }
    provider.configure({"config": f"{stage.home}/ssh_config", "hosts": hosts})
    return provider


def _write_config(stage: Stage, ports: Mapping[str, int]) -> None:
    lines = ["[providers.ssh]", f'config = "{stage.home}/ssh_config"']
    for name, port in ports.items():
        lines += [f"[providers.ssh.hosts.{name}]", 'address = "127.0.0.1"', f"port = {port}"]
        lines += [f'dir = "{stage.home}/hosts/{name}"']
    os.makedirs(stage.env["MNGR_HOST_DIR"], mode=0o700, exist_ok=True)
    with open(f"{stage.env['MNGR_HOST_DIR']}/config.toml", "w") as file:
        file.write("\n".join(lines) + "\n")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)
    raise NoSshdError("ssh was left out: sshd did not come up")


if __name__ == "__main__":
    with workshop() as place:
        print(measure_remote(place, 7))
