"""Machines by ssh pass the suite that every host passes; what is away is told from what failed."""

import shutil
import threading
import time
from pathlib import Path

import msgspec
import pytest
from tests.support.sshd import Machine, Machines, machines

from mngr import process
from mngr.errors import CapacityError, NotFoundError, TimedOutError, UnreachableError, UsageError
from mngr.hosts.bootstrap import missing
from mngr.hosts.ssh.host import SshHost, _line
from mngr.hosts.ssh.provider import SshProvider
from mngr.model.host import HostSpec
from mngr.process import wait_until
from mngr.sh.program import words
from mngr.testing.hosts import HostConformance, ProviderConformance
from mngr.testing.hosts.witness import HARMLESS_WORDS, PRINT_ARGS, raw
from mngr_lib import trace

__all__ = ["machines"]

# Longer than any deadline of ours, shorter than the quarter of an hour that TCP would wait.
_BOUND_S = 60.0


@pytest.fixture
def machine(machines: Machines) -> Machine:
    return machines.add("one")


@pytest.fixture
def provider(machines: Machines, machine: Machine, tmp_path: Path) -> SshProvider:
    return machines.provider(tmp_path / "host dir")


@pytest.fixture
def host(provider: SshProvider) -> SshHost:
    return provider.open("one")


@pytest.mark.accept("K13")
@pytest.mark.slow
class TestSshHost(HostConformance):
    pass


@pytest.mark.accept("K13")
class TestSshProvider(ProviderConformance):
    pass


@pytest.mark.parametrize("shell", [("dash",), ("bash",), ("busybox", "sh"), ("zsh",), ("tcsh",), ("fish",)])
def test_a_command_line_means_the_same_in_every_login_shell(shell: tuple[str, ...]) -> None:
    if not shutil.which(shell[0]):
        return
    for is_secret in (False, True):
        line, head = _line(words(*PRINT_ARGS, *HARMLESS_WORDS) + "\ncat\n", "mark", is_secret=is_secret)
        done = process.run([*shell, "-c", line], stdin=head + b"the rest")
        assert done.stdout == b"".join(raw(word) + b"\0" for word in HARMLESS_WORDS) + b"the rest"


def test_what_a_login_shell_says_is_no_part_of_an_answer(host: SshHost, machine: Machine) -> None:
    machine.run("echo 'echo chatter; echo chatter >&2' >/root/.bashrc")
    done = host.run(["sh", "-c", "echo out; echo err >&2"])
    assert (done.stdout, done.stderr) == (b"out\n", b"err\n")


def test_a_list_of_processes_is_an_answer_like_any_other(host: SshHost) -> None:
    assert b"cmdline" in host.run(["sh", "-c", "cat /proc/[0-9]*/cmdline; exit 0"]).stdout


def test_values_of_variables_are_in_no_list_of_processes(host: SshHost, machine: Machine) -> None:
    stream = host.stream(["sleep", "300"], env={"TOKEN": "hunter-two-two"})
    try:
        assert wait_until(
            lambda: b"sleep\0" + b"300" in machine.run("cat /proc/[0-9]*/cmdline 2>/dev/null; exit 0").stdout,
            _BOUND_S,
        )
        lists = ["sh", "-c", "cat /proc/[0-9]*/cmdline"]
        assert b"hunter-two-two" not in process.run(lists).stdout
        assert b"hunter-two-two" not in machine.box.run(lists).stdout
    finally:
        stream.kill()


@pytest.mark.accept("K11")
@pytest.mark.slow
def test_a_call_is_in_the_trace_with_its_host(
    host: SshHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "_file", str(tmp_path / "trace"))
    host.run(("sh", "-c", "exit 3"))
    spans = [msgspec.json.decode(line) for line in (tmp_path / "trace").read_text().splitlines()]
    assert [(span["argv"], span["code"]) for span in spans if span["host"] == f"{host.name}.ssh"] == [
        (["sh", "-c", "exit 3"], 3)
    ]


def test_a_machine_that_goes_away_is_unreachable_and_not_a_failed_command(
    host: SshHost, machine: Machine
) -> None:
    assert host.run(["true"]).code == 0
    machine.cut_off()
    began = time.monotonic()
    with pytest.raises(UnreachableError, match="one"):
        host.run(["true"], timeout_s=2)
    with pytest.raises(UnreachableError):
        host.run(["true"])
    assert time.monotonic() - began < _BOUND_S
    machine.join()
    assert wait_until(lambda: _answers(host), _BOUND_S)


@pytest.mark.slow
def test_a_stream_to_a_machine_that_goes_away_ends(host: SshHost, machine: Machine) -> None:
    stream = host.stream(["cat"])
    try:
        stream.stdin.write(b"x")
        assert stream.stdout.read(1) == b"x"
        machine.cut_off()
        with pytest.raises(UnreachableError):
            stream.wait(_BOUND_S)
    finally:
        stream.kill()


def test_a_slow_command_is_late_and_not_away(host: SshHost) -> None:
    with pytest.raises(TimedOutError, match="sleep on one"):
        host.run(["sleep", "300"], timeout_s=1)


def test_a_killed_command_is_a_failed_command(host: SshHost) -> None:
    assert host.run(["sh", "-c", "kill -9 0"]).code == 137


def test_a_machine_without_sshd_is_unreachable_and_heals(
    host: SshHost, machine: Machine, machines: Machines, tmp_path: Path
) -> None:
    machine.stop_sshd()
    with pytest.raises(UnreachableError, match="refused"):
        machines.provider(tmp_path / "h").open("one")
    assert not _answers(host)
    machine.start_sshd()
    assert wait_until(lambda: _answers(host), _BOUND_S)


def test_an_unknown_host_key_is_refused_with_a_hint(machines: Machines, tmp_path: Path) -> None:
    machines.add("one")
    (machines.folder / "known_hosts").write_text("")
    with pytest.raises(UnreachableError, match="Host key verification failed") as caught:
        machines.provider(tmp_path / "h").open("one")
    assert "ssh one" in caught.value.hint


def test_a_key_that_is_not_let_in_is_told(machines: Machines, tmp_path: Path) -> None:
    machines.add("one").run(": >/root/sshd/authorized_keys")
    with pytest.raises(UnreachableError, match="Permission denied"):
        machines.provider(tmp_path / "h").open("one")


def test_a_connection_that_closes_before_the_banner_is_tried_once_more(
    machines: Machines, tmp_path: Path
) -> None:
    machine = machines.add("one")
    with machines.relay(machine, drop_first=1) as port:
        hosts = {"one": {"address": "127.0.0.1", "port": port}}
        more = machines.folder / "config"
        more.write_text(
            more.read_text() + f"Host 127.0.0.1\n  HostKeyAlias {machine.address}\n"
            f"  IdentityFile {machines.folder}/key\n  UserKnownHostsFile {machines.folder}/known_hosts\n"
        )
        assert machines.provider(tmp_path / "h", hosts=hosts).open("one").dir == "/root/.mngr"
    with machines.relay(machine, drop_first=9) as port:
        hosts = {"one": {"address": "127.0.0.1", "port": port}}
        with pytest.raises(CapacityError, match="takes no more connections for now") as caught:
            machines.provider(tmp_path / "h2", hosts=hosts).open("one")
        assert "MaxStartups" in caught.value.hint


def test_more_at_once_than_one_connection_carries(machines: Machines, tmp_path: Path) -> None:
    machines.add("one", "MaxSessions 2")
    host = machines.provider(tmp_path / "h").open("one")
    codes: list[int] = []
    threads = [
        threading.Thread(target=lambda: codes.append(host.run(["sh", "-c", "sleep 1; exit 7"]).code))
        for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [7] * 5


def test_the_socket_of_the_connection_is_short_and_private(provider: SshProvider, host: SshHost) -> None:
    socket = Path(host._way.socket)
    assert socket.is_socket()
    assert len(str(socket)) + 17 < 104
    assert socket.parent.stat().st_mode & 0o077 == 0


def test_host_dirs_are_where_the_machine_or_the_config_says(machines: Machines, tmp_path: Path) -> None:
    machines.add("one")
    machines.add("two", MNGR_HOST_DIR="/work/mngr")
    hosts = {"one": {"dir": "~/elsewhere"}, "two": {}}
    provider = machines.provider(tmp_path / "h", hosts=hosts)
    assert [provider.open(name).dir for name in hosts] == ["/root/elsewhere", "/work/mngr"]
    again = machines.provider(tmp_path / "h", hosts={"one": {"dir": "/srv/m"}})
    assert again.open("one").dir == "/srv/m"


def test_a_machine_of_the_ssh_config_is_met_by_name_and_let_go(machines: Machines, tmp_path: Path) -> None:
    machines.add("one")
    provider = machines.provider(tmp_path / "h", hosts={})
    assert list(provider.hosts()) == []
    assert provider.knows("one")
    assert not provider.knows("two")
    assert provider.create(HostSpec(name="one")).run(["echo", "met"]).text == "met\n"
    again = machines.provider(tmp_path / "h", hosts={})
    assert [ref.name for ref in again.hosts()] == ["one"]
    again.destroy("one")
    assert list(machines.provider(tmp_path / "h", hosts={}).hosts()) == []
    with pytest.raises(NotFoundError):
        again.open("one")


def test_a_name_that_nobody_knows_is_not_found(machines: Machines, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no-such-host"):
        machines.provider(tmp_path / "h").create(HostSpec(name="no-such-host.invalid"))


@pytest.mark.slow
def test_any_machine_means_the_next_one_that_answers(machines: Machines, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        machines.add(name)
    provider = machines.provider(tmp_path / "h")
    assert {provider.choose().name for _ in range(3)} == {"one", "two", "three"}
    machines.machines["two"].stop_sshd()
    assert {provider.choose().name for _ in range(3)} == {"one", "three"}
    machines.machines["three"].cut_off()  # its connection lives on for minutes
    assert provider.choose().name == provider.choose().name == "one"
    with pytest.raises(UsageError, match="names none"):
        machines.provider(tmp_path / "h", hosts={}).choose()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"prot": 22}, "unknown key prot"),
        ({"hosts": {"box": {"usr": "ada"}}}, r"hosts.box\]: unknown key usr"),
        ({"port": "many"}, "port"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, settings: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        SshProvider(str(tmp_path)).configure(settings)


def test_names_come_from_the_ssh_config_and_what_it_includes(tmp_path: Path) -> None:
    (tmp_path / "more").write_text("Host far *.example.org\n")
    config = tmp_path / "config"
    config.write_text(f'Host near "quoted name" !not\n  User x\nInclude {tmp_path}/mor*\n')
    provider = SshProvider(str(tmp_path / "h"))
    provider.configure({"config": str(config)})
    assert provider._settings.aliases() == ("near", "quoted", "name", "far")


_PROGRAMS = (
    "sh cat ls mkdir chmod mv rm wc cut grep sed awk sleep date id env find tail cksum tr dd kill readlink"
)
_INSTALL = """#!/bin/sh
echo "$0 $*" >>/root/installed
for program in tmux git; do
  case " $* " in *" $program "*) /bin/ln -sf /usr/bin/$program /root/bin/$program ;; esac
done
"""


@pytest.mark.accept("K19")
@pytest.mark.parametrize("manager", ["apt-get", "apk", "dnf"])
def test_bootstrap_installs_what_is_missing_with_the_packages_of_the_machine(
    machines: Machines, tmp_path: Path, manager: str
) -> None:
    machine = machines.add("bare", PATH="/root/bin")
    machine.run(f"mkdir /root/bin; for p in {_PROGRAMS}; do ln -s $(command -v $p) /root/bin/$p; done")
    provider = machines.provider(tmp_path / "h")
    host = provider.open("bare")
    assert missing(host) == ("tmux", "git")
    provider.prepare(host)
    assert missing(host) == ("tmux", "git")
    machine.box.write(f"/root/bin/{manager}", _INSTALL.encode(), 0o755)
    machines.provider(tmp_path / "h", bootstrap=True).prepare(host)
    assert missing(host) == ()
    said = machine.run("cat /root/installed").text
    assert manager in said
    assert said.rstrip().endswith("tmux git")


def _answers(host: SshHost) -> bool:
    try:
        return host.run(["true"]).code == 0
    except UnreachableError:
        return False
