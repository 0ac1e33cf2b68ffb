"""Requests to steer a run: each a file in its folder, from when it is made until the run's journal has it."""

import os
import re
import secrets
import time
from contextlib import suppress

import msgspec

from mngr_lib.files import read_regular
from mngr_lib.safe_text import one_line
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import RunSteered
from mngr_tmr.run_folder.folder import RunFolder

_NAME = re.compile(r"\d{19,20}-[0-9a-f]{8}\.json")
_MOST_BYTES = 1 << 16
_LONGEST_BY = 100


def make_request(folder: RunFolder, fact: RunSteered, task: str = "") -> str:
    """Leaves a request to the process that runs the run; its name, in whose order requests are taken."""
    name = f"{time.time_ns():019}-{secrets.token_hex(4)}.json"
    fact = msgspec.structs.replace(fact, request=name)
    folder.writer.write_json(
        os.path.join(folder.requests, name), Entry(time.time(), "run", "noted", task, fact=fact)
    )
    return name


def waiting_requests(folder: RunFolder, at: float) -> list[Entry]:
    """Every request that was not removed, the first one first; what is no request is left out."""
    try:
        names = sorted(filter(_NAME.fullmatch, os.listdir(folder.requests)))
    except OSError:
        return []
    found = []
    for name in names:
        with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            data = read_regular(os.path.join(folder.requests, name), _MOST_BYTES)
            entry = msgspec.json.decode(data, type=Entry)
            if isinstance(entry.fact, RunSteered):
                fact = msgspec.structs.replace(
                    entry.fact, request=name, by=one_line(entry.fact.by, _LONGEST_BY), refused=""
                )
                found.append(Entry(at, "run", "noted", entry.task, fact=fact))
    return found


def remove_request(folder: RunFolder, name: str) -> None:
    """After this it is not taken any more, unless the journal has it already."""
    with suppress(OSError):
        os.unlink(os.path.join(folder.requests, name))
