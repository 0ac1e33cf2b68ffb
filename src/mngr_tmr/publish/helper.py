"""The program `mngr-result` for one agent, and the setup that writes it onto the agent's host."""

import gzip
import json
from base64 import b64encode
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct

from mngr_tmr.model.result import RAW_LIMIT, json_schema
from mngr_tmr.publish.schema import schema_text

# Packed, it is a third as long: a setup travels with every agent.
_WRITE = """\
command -v python3 >/dev/null || {{ echo "mngr-result is a Python program: is python3 there?" >&2; exit 1; }}
h="$MNGR_AGENT_STATE_DIR/bin/mngr-result" && mkdir -p "${{h%/*}}" && echo {packed} | base64 -d | gzip -dc >"$h" &&
  chmod 700 "$h" && [ -s "$h" ] || {{ echo "mngr-result could not be written" >&2; exit 1; }}
unset h
"""
_BLANK = "CONFIG: dict[str, Any] = {}\n"


class HelperConfig(Struct, frozen=True):
    """What the program knows: its test, how pytest is run and where. Without a test it can only judge."""

    pytest: tuple[str, ...] = ("pytest",)
    args: tuple[str, ...] = ()
    test: str = ""
    file: str = ""
    folder: str = ""
    programs: tuple[str, ...] = ()


def helper_text(config: HelperConfig) -> str:
    """The program, whole, in one text."""
    known = {
        **msgspec.to_builtins(config),
        "schema": json_schema(),
        "schema_text": schema_text(),
        "limit": RAW_LIMIT,
        "plugin": _source("pytest_facts.py"),
    }
    before, blank, after = _source("helper_program.py").partition(_BLANK)
    assert blank
    return f"{before}CONFIG: dict[str, Any] = json.loads({json.dumps(known)!a})\n{after}"


def helper_setup(setup: str = "", config: HelperConfig | None = None) -> str:
    """The setup of a working copy: writes `mngr-result` first on the agent's PATH, then does what `setup` says."""
    packed = b64encode(gzip.compress(helper_text(config or HelperConfig()).encode(), mtime=0)).decode()
    return f"{_WRITE.format(packed=packed)}{setup}"


@cache
def _source(name: str) -> str:
    return files("mngr_tmr.publish").joinpath(name).read_text(encoding="utf-8")
