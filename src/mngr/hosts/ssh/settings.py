"""`[providers.ssh]`: which machines there are and how each is reached, where the user's ssh config does not say it."""

import glob
import os
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from mngr.errors import UsageError, did_you_mean

_INCLUDES_DEEP = 8


class Machine(Struct, frozen=True, forbid_unknown_fields=True):
    """One machine. What is left out comes from `[providers.ssh]` itself, then from the user's ssh config."""

    address: str = ""
    """A host name or number, where it is not the machine's own name."""
    user: str = ""
    port: int = 0
    identity: str = ""
    """A file with the private key."""
    dir: str = ""
    """The host dir there; `~/.mngr` unless said."""
    bootstrap: bool | None = None
    """Whether missing tmux and git are installed there."""


class SshSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole section; `config` names another file than the user's own ssh config."""

    config: str = ""
    user: str = ""
    port: int = 0
    identity: str = ""
    dir: str = ""
    bootstrap: bool = False
    hosts: dict[str, Machine] = {}

    def machine(self, name: str) -> Machine:
        """A machine with the section's defaults filled in, named in the config or not."""
        own = self.hosts.get(name, Machine())
        return Machine(
            address=own.address or name,
            user=own.user or self.user,
            port=own.port or self.port,
            identity=os.path.expanduser(own.identity or self.identity),
            dir=own.dir or self.dir,
            bootstrap=self.bootstrap if own.bootstrap is None else own.bootstrap,
        )

    @property
    def config_file(self) -> str:
        return os.path.expanduser(self.config or "~/.ssh/config")

    def aliases(self) -> tuple[str, ...]:
        """Names that the ssh config has an entry for; patterns are none."""
        return tuple(dict.fromkeys(_aliases(self.config_file, _INCLUDES_DEEP)))


def read_settings(table: Mapping[str, Any]) -> SshSettings:
    """The settings, or a usage error that names the wrong key."""
    _check_keys("providers.ssh", table, SshSettings)
    for name, machine in table.get("hosts", {}).items():
        if isinstance(machine, dict):
            _check_keys(f"providers.ssh.hosts.{name}", machine, Machine)
    try:
        return msgspec.convert(table, SshSettings)
    except msgspec.ValidationError as error:
        raise UsageError(f"[providers.ssh]: {error}", hint="see: mngr config explain providers.ssh") from None


def _check_keys(where: str, table: Mapping[str, Any], record: type[Struct]) -> None:
    for key in table:
        if key not in record.__struct_fields__:
            raise UsageError(
                f"[{where}]: unknown key {key}", hint=did_you_mean(key, record.__struct_fields__)
            )


def _aliases(path: str, deep: int) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    found: list[str] = []
    for line in lines:
        key, *values = line.replace("=", " ", 1).replace('"', " ").split() or [""]
        if key.lower() == "host":
            found += [value for value in values if not set("*?!") & set(value)]
        elif key.lower() == "include" and deep:
            for pattern in values:
                near = os.path.join(os.path.expanduser("~/.ssh"), os.path.expanduser(pattern))
                found += [name for each in sorted(glob.glob(near)) for name in _aliases(each, deep - 1)]
    return found
