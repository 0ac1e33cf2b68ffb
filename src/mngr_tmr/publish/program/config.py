"""What the program was given when it was written onto the host, and what all its modules share."""

from __future__ import annotations

import json
import subprocess
from pkgutil import get_data
from typing import Any

WRONG, WRONG_CODE, TIMED_OUT = 2, 3, 124


class ProblemError(Exception):
    """What the caller has to change."""


def read_config() -> dict[str, Any]:
    """The keys: test, file, folder, args, pytest, programs, schema, schema_text, limit, plugin,
    and for the environment: own_venv, python, repo, is_local.
    """
    data = get_data("mngr_tmr", "config.json")
    if data is None:
        raise ProblemError("config.json is missing: this program works only from its zip file")
    found: dict[str, Any] = json.loads(data.decode("utf-8"))
    return found


CONFIG = read_config()


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        raise ProblemError("git {}: {}".format(words[0], done.stderr.decode(errors="replace").strip()))
    return done.stdout.decode("utf-8", "surrogateescape")


def shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:79] + "…"
