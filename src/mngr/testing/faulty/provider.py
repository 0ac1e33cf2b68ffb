"""The provider `faulty`: hosts on this machine that are late, lose calls, refuse, fill up and vanish, as configured.

For trying out what remote hosts do to a program, without any: `[providers.faulty]` says which faults, and the same seed
makes the same ones. Not a wall: a host is a directory here, and its programs are ordinary processes.
"""

import os
import signal
import threading
import time
from collections.abc import Mapping
from random import Random
from typing import Any

import msgspec

from mngr import process
from mngr.errors import (
    CapacityError,
    MngrError,
    NotFoundError,
    RefusedError,
    UnreachableError,
    UsageError,
    did_you_mean,
)
from mngr.model.host import HostRef, HostSpec, HostState
from mngr.model.ids import check_name, random_name
from mngr.process import wait_until
from mngr.testing.faulty.host import MARK, Faults, FaultyHost, get_state, put_state
from mngr_lib.proc import process_ids, read_entry, read_stat


class FaultyProvider:
    """Directories in `providers/faulty/`, each a host with its state, its number of calls, and `dir/`."""

    name = "faulty"
    options: frozenset[str] = frozenset()

    def __init__(self, host_dir: str) -> None:
        self._dir = f"{host_dir}/providers/faulty"
        self._faults, self._listings, self._creations = Faults(), 0, 0
        self._making, self._made = threading.Lock(), list[float]()

    def configure(self, settings: Mapping[str, Any]) -> None:
        try:
            self._faults = msgspec.convert(settings, Faults)
        except msgspec.ValidationError as error:
            raise UsageError(
                f"[providers.faulty]: {error}", hint=f"known: {', '.join(Faults.__struct_fields__)}"
            ) from None

    def create(self, spec: HostSpec) -> FaultyHost:
        name = check_name(spec.name or random_name(), "host name")
        self._creations += 1
        if Random(f"{self._faults.seed} create {self._creations}").random() < self._faults.drop:
            raise UnreachableError(f'host "{name}" could not be made: no answer', hint="try again")
        os.makedirs(self._dir, mode=0o700, exist_ok=True)
        with self._making:
            self._check_room(name)
            self._make_folder(name)
            self._made.append(time.monotonic())
        return self._host(name)

    def _check_room(self, name: str) -> None:
        now = time.monotonic()
        self._made = [made for made in self._made if now - made < 1]
        if self._faults.create_rate and len(self._made) >= self._faults.create_rate:
            raise CapacityError(
                f"more than {self._faults.create_rate} hosts in a second", hint="try again", retry_after_s=1.0
            )
        most = self._faults.max_hosts
        if most and sum(ref.state == HostState.RUNNING for ref in self._refs()) >= most:
            raise CapacityError(
                f'host "{name}" could not be made: no more than {most} may run', hint="try again later"
            )

    def _make_folder(self, name: str) -> None:
        try:
            os.mkdir(self._path(name), 0o700)
        except FileExistsError:
            raise RefusedError(f'there is a host "{name}" already', hint="choose another name") from None
        os.mkdir(f"{self._path(name)}/dir", 0o700)
        put_state(self._path(name), HostState.RUNNING)

    def open(self, name: str) -> FaultyHost:
        state = get_state(self._known(name))
        if state != HostState.RUNNING:
            raise UnreachableError(f'host "{name}" is {state.lower()}', hint="starting its agents starts it")
        return self._host(name)

    def hosts(self) -> list[HostRef]:
        self._listings += 1
        chance = Random(f"{self._faults.seed} listing {self._listings}")
        if chance.random() < self._faults.listing_drop:
            raise UnreachableError("the listing of faulty hosts got no answer", hint="try again")
        return self._refs()

    def _refs(self) -> list[HostRef]:
        return [HostRef(name, self.name, get_state(self._path(name))) for name in self._names()]

    def stop(self, name: str) -> None:
        put_state(self._known(name), HostState.STOPPED)
        folder = self._path(name)
        own = os.fsencode(folder)
        # In the environment of each, or its files in a command line.
        marks = (b"\0" + MARK.encode() + b"=" + own + b"\0", b"=" + own + b"/dir\0")

        def kill() -> bool:
            found = []
            for pid in process_ids():
                stat, environ = read_stat(pid), b"\0" + read_entry(pid, "environ")
                is_ours = any(mark in environ for mark in marks) or own + b"/dir/" in read_entry(
                    pid, "cmdline"
                )
                if stat and not stat.is_dead and is_ours and pid != os.getpid():
                    found.append(pid)
            for pid in found:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            return not found

        if not wait_until(kill, 10):
            raise MngrError(f"processes of {folder} do not end", hint="do they hang in the kernel?")

    def start(self, name: str) -> FaultyHost:
        put_state(self._known(name), HostState.RUNNING)
        return self._host(name)

    def destroy(self, name: str) -> None:
        self.stop(name)
        process.run(["rm", "-rf", "--", self._path(name)], timeout_s=300).check(f'cannot remove "{name}"')

    def _host(self, name: str) -> FaultyHost:
        return FaultyHost(name, self._path(name), self._faults)

    def _known(self, name: str) -> str:
        if name not in self._names():
            raise NotFoundError(f'no host "{name}"', hint=did_you_mean(name, self._names()))
        return self._path(name)

    def _names(self) -> list[str]:
        try:
            with os.scandir(self._dir) as entries:
                return sorted(entry.name for entry in entries if entry.is_dir())
        except FileNotFoundError:
            return []

    def _path(self, name: str) -> str:
        return f"{self._dir}/{name}"
