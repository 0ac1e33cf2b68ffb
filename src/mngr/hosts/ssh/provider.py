"""The provider `ssh`: machines that are there already, from the config or met by name."""

import os
import zlib
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from mngr.errors import (
    MngrError,
    NotFoundError,
    RefusedError,
    TimedOutError,
    UnreachableError,
    UsageError,
    did_you_mean,
)
from mngr.hosts.bootstrap import bootstrap
from mngr.hosts.local import LocalHost
from mngr.hosts.protocol import Host
from mngr.hosts.ssh.host import SshHost, Way
from mngr.hosts.ssh.settings import Machine, SshSettings, read_settings
from mngr.model.host import HostRef, HostSpec
from mngr.sh.program import argv
from mngr.store.lock import locked

# A socket's address holds 104 bytes on some systems; of these 30 are our name, and ssh first binds one 17 longer.
_FOLDER_LIMIT = 104 - 30 - 17 - 1
_ANSWER_S = 10.0


def socket_folder(host_dir: str) -> str:
    """Where shared connections are; under /tmp when the host dir is too long for a socket's address."""
    near = f"{host_dir}/ssh"
    if len(near.encode()) <= _FOLDER_LIMIT:
        return near
    return f"/tmp/mngr-ssh-{os.geteuid()}-{zlib.crc32(host_dir.encode()):08x}"


class Note(Struct, frozen=True):
    """What we know of a machine from the first time it answered."""

    dir: str
    asked_dir: str = ""
    is_met: bool = False
    """It is in no config: it was named in an address, and it is listed until its last agent goes."""


class SshProvider:
    """Machines by ssh. It neither makes nor ends any; `create` meets one, `destroy` lets go of it."""

    name = "ssh"
    options: frozenset[str] = frozenset()

    def __init__(self, host_dir: str) -> None:
        self._dir = f"{host_dir}/providers/ssh"
        self._host_dir = host_dir
        self._settings = SshSettings()
        self._hosts: dict[str, SshHost] = {}

    def configure(self, settings: Mapping[str, Any]) -> None:
        self._settings = read_settings(settings)

    def create(self, spec: HostSpec) -> SshHost:
        if not spec.name:
            return self.choose()
        if spec.name in self._names():
            raise RefusedError(f'host "{spec.name}" is known already', hint="open it instead")
        return self._learnt(spec.name, is_met=True)

    def open(self, name: str) -> SshHost:
        self._check(name)
        return self._hosts.get(name) or self._learnt(name)

    def hosts(self) -> list[HostRef]:
        return [HostRef(name, self.name) for name in self._names()]

    def stop(self, name: str) -> None:
        self._check(name)
        raise UsageError(f'"{name}" is not mngr\'s to stop', hint="stop its agents: mngr stop --host " + name)

    def destroy(self, name: str) -> None:
        """Lets go of a machine: the connection ends and, if no config has it, it is listed no more."""
        self._check(name)
        SshHost(self._way(name)).disconnect()
        self._hosts.pop(name, None)
        for path in (self._note(name), os.path.dirname(self._note(name))):
            try:
                os.unlink(path) if path.endswith(".json") else os.rmdir(path)
            except OSError:
                pass

    def choose(self) -> SshHost:
        """The next machine in turn that answers."""
        names = list(self._settings.hosts) or self._names()
        if not names:
            raise UsageError(
                "ssh makes no machines, and the config names none",
                hint="name one: mngr create NAME@HOST.ssh, or add [providers.ssh.hosts.HOST]",
            )
        first, silent = self._turn(), list[MngrError]()
        for step in range(len(names)):
            try:
                host = self.open(names[(first + step) % len(names)])
                # A connection is kept for a while after its machine is gone: only an answer tells.
                host.run(("true",), timeout_s=_ANSWER_S)
                return host
            except (UnreachableError, TimedOutError) as error:
                silent.append(error)
        raise silent[0]

    def knows(self, name: str) -> bool:
        return "." in name or name in self._names() or name in self._settings.aliases()

    def prepare(self, host: Host) -> None:
        if self._settings.machine(host.name).bootstrap:
            bootstrap(host)

    def _names(self) -> list[str]:
        return sorted({*self._settings.hosts, *self._met()})

    def _met(self) -> list[str]:
        try:
            names = os.listdir(self._dir)
        except OSError:
            return []
        return [name for name in names if (note := self._read_note(name)) and note.is_met]

    def _check(self, name: str) -> None:
        if name not in self._names():
            known = [*self._names(), *self._settings.aliases()]
            raise NotFoundError(f'no host "{name}" is known', hint=did_you_mean(name, known))

    def _learnt(self, name: str, *, is_met: bool = False) -> SshHost:
        """The machine; where its host dir is was asked for once, and is remembered."""
        way, note = self._way(name), self._read_note(name)
        asked = self._settings.machine(name).dir
        if note is None or note.asked_dir != asked or is_met > note.is_met:
            done = SshHost(way).run(argv("sh/host_dir", asked))
            found = done.check(f'cannot ask "{name}" for its home').stdout.decode("utf-8", "surrogateescape")
            if not found.startswith("/"):
                raise UsageError(f'the host dir "{found}" of "{name}" is not absolute')
            note = Note(found, asked, is_met or (note is not None and note.is_met))
            LocalHost(self._host_dir).write(self._note(name), msgspec.json.encode(note))
        host = self._hosts[name] = SshHost(way, note.dir)
        return host

    def _note(self, name: str) -> str:
        return f"{self._dir}/{name}/host.json"

    def _read_note(self, name: str) -> Note | None:
        try:
            with open(self._note(name), "rb") as file:
                return msgspec.json.decode(file.read(), type=Note)
        except (OSError, msgspec.DecodeError):
            return None

    def _way(self, name: str) -> Way:
        machine = self._settings.machine(name)
        options = [("-F", self._settings.config_file)] if self._settings.config else []
        options += [("-l", machine.user)] if machine.user else []
        options += [("-p", str(machine.port))] if machine.port else []
        options += [("-i", machine.identity)] if machine.identity else []
        flat = tuple(word for pair in options for word in pair)
        return Way(name, machine.address, self._socket(name, machine), flat)

    def _socket(self, name: str, machine: Machine) -> str:
        """Where the shared connection is; another one when the settings change."""
        label = zlib.crc32(repr((name, self._settings.config, machine)).encode())
        folder = socket_folder(self._host_dir)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if os.lstat(folder).st_uid != os.geteuid():
            raise MngrError(f"{folder} belongs to another user", hint="have it removed, then try again")
        return f"{folder}/{name[:20]}-{label:08x}"

    def _turn(self) -> int:
        os.makedirs(self._dir, mode=0o700, exist_ok=True)
        path = f"{self._dir}/turn"
        with locked(f"{path}.lock"):
            try:
                with open(path, encoding="ascii") as file:
                    turn = int(file.read())
            except (OSError, ValueError):
                turn = 0
            with open(path, "w", encoding="ascii") as file:
                file.write(str(turn + 1))
        return turn
