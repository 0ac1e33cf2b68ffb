"""`[providers.modal]`: which app, which image, and what every sandbox is given."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from mngr.errors import UsageError
from mngr.hosts.settings import read_section

_MEBIBYTES = {"b": 1 / (1 << 20), "k": 1 / 1024, "m": 1.0, "g": 1024.0}


class ModalSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole section. Who you are to Modal is in the SDK's own settings (`modal setup`)."""

    app: str = "mngr"
    """Sandboxes belong to the app of that name; those of other apps are not seen."""
    environment: str = ""
    """A Modal environment, where it is not the current one."""
    image: str = ""
    """A name in a registry, or a folder or Dockerfile to build: a path that begins with `.` or `/`."""
    build_args: dict[str, str] = {}
    cpus: float = 0
    memory: str = ""
    timeout: str = "24h"
    """How long a sandbox lives at most; Modal allows no more than a day."""
    allow_domains: tuple[str, ...] | None = None
    allow_cidrs: tuple[str, ...] | None = None
    """What sandboxes may reach, where that is not everything; `--offline` means nothing."""
    region: str = ""
    create_rate: float = 4.0
    """How many sandboxes a process asks for in a second at most; Modal refuses who is faster. 0: no limit."""
    exit_snapshots: bool = False
    """Whether Modal keeps the files of sandboxes that end by themselves, which it calls an experiment."""
    bootstrap: bool = False
    """Whether missing tmux and git are installed in every sandbox; the image we take by ourselves has both."""


def read_settings(table: Mapping[str, Any]) -> ModalSettings:
    return read_section("modal", table, ModalSettings)


def mebibytes(memory: str) -> int:
    """An amount of memory as `docker run --memory` understands it: a number and b, k, m or g."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([bkmg]?)b?", memory.strip().lower())
    if not found:
        raise UsageError(f"{memory!r} is not an amount of memory", hint="write 512m or 4g")
    return max(1, round(float(found[1]) * _MEBIBYTES[found[2] or "b"]))
