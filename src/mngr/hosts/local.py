"""This machine."""

import os
from collections.abc import Mapping, Sequence

from mngr import process
from mngr.errors import MngrError, NotFoundError, UsageError
from mngr.model.host import HostRef, HostSpec
from mngr.process import CommandFailedError, Completed, LocalStream
from mngr_lib.files import read_regular, replace_file

# Stands in for a program that could not be started, so that a stream always has pipes and an exit code.
_SAY_AND_EXIT = ("sh", "-c", 'printf "%s\\n" "$1" >&2; exit "$2"', "sh")


class LocalHost:
    """Runs commands as our children and touches files directly."""

    name = "local"
    provider = "local"
    shares_files = True

    def __init__(self, host_dir: str) -> None:
        self.dir = host_dir

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Completed:
        try:
            return process.run(argv, stdin=stdin, timeout_s=timeout_s, env=env, cwd=cwd)
        except CommandFailedError as error:
            return error.completed

    def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> LocalStream:
        try:
            return process.stream(argv, env=env, cwd=cwd)
        except CommandFailedError as error:
            return process.stream([*_SAY_AND_EXIT, error.completed.complaint, str(error.completed.code)])

    def read(self, path: str) -> bytes:
        try:
            return read_regular(path)
        except NotADirectoryError:
            raise FileNotFoundError(path) from None
        except FileNotFoundError:
            raise
        except OSError as error:
            raise MngrError(f"cannot read {path}: {error.strerror}") from None

    def write(self, path: str, data: bytes, mode: int = 0o600) -> None:
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            replace_file(path, data, mode, ignores_umask=True)
        except OSError as error:
            raise MngrError(f"cannot write {path}: {error.strerror}") from None

    def attach_argv(self, argv: Sequence[str]) -> tuple[str, ...]:
        return tuple(argv)


class LocalProvider:
    """One host, `local`, always there."""

    name = "local"
    options: frozenset[str] = frozenset()

    def __init__(self, host_dir: str) -> None:
        self._host = LocalHost(host_dir)

    def create(self, spec: HostSpec) -> LocalHost:
        if spec.name not in ("", LocalHost.name):
            raise UsageError(f'the local provider has one host, "local", and cannot make "{spec.name}"')
        return self._host

    def open(self, name: str) -> LocalHost:
        if name not in ("", LocalHost.name, "localhost"):
            raise NotFoundError(f'no host "{name}" on this machine', hint='this machine is "local"')
        return self._host

    def hosts(self) -> list[HostRef]:
        return [HostRef()]

    def stop(self, name: str) -> None:
        self.open(name)
        raise UsageError(
            "this machine is not mngr's to stop", hint="stop agents by name, or: mngr stop --all"
        )

    def destroy(self, name: str) -> None:
        self.open(name)
        raise UsageError("this machine is not mngr's to destroy", hint="destroy agents by name")
