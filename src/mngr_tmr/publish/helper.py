"""The program `mngr-result` for one agent, and the setup that writes it onto the agent's host."""

import io
import os
import zipfile
from base64 import b64encode
from functools import cache
from importlib.resources import files
from shlex import quote

import msgspec
from msgspec import Struct

from mngr_tmr.model.result import RAW_LIMIT, json_schema
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import Task
from mngr_tmr.publish.schema import schema_text

# The packed line is the last of ours: of a setup that failed, `create` shows what follows a line so long.
_WRITE = """\
command -v python3 >/dev/null || {{ echo "mngr-result is a Python program: is python3 there?" >&2; exit 1; }}
h="$MNGR_AGENT_STATE_DIR/bin/mngr-result" && mkdir -p "${{h%/*}}" && echo {packed} | base64 -d >"$h" && \
chmod 700 "$h" && [ -s "$h" ] || {{ echo "mngr-result could not be written" >&2; exit 1; }}; unset h; mngr_prepare
"""
_ENVIRONMENT = """\
mngr_environment() {{ {python} -B "$MNGR_AGENT_STATE_DIR/bin/mngr-result" environment "$@"; }}
"""
_OWN_SETUP = """\
export VIRTUAL_ENV="$MNGR_AGENT_STATE_DIR" PIP_REQUIRE_VIRTUALENV=1
unset PYTHONHOME PIP_PYTHON PIP_TARGET PIP_PREFIX PIP_USER UV_PROJECT_ENVIRONMENT UV_SYSTEM_PYTHON CONDA_PREFIX
"""
_OUTSIDE_SETUP = """\
PATH=$(mngr_environment --setup --outside) || exit 1
export PATH PIP_REQUIRE_VIRTUALENV=1
unset VIRTUAL_ENV PYTHONHOME CONDA_PREFIX
"""
# The setup runs in parentheses, so that a trap of its own cannot take the place of this one.
_AFTER_SETUP = """\
trap 'c=$?; trap - 0; mngr_environment --after || c=1; exit "$c"' 0
"""
_START = b"#!/usr/bin/env python3\n"
_PROGRAM = "mngr_tmr/publish/program"
_MAIN = b"from mngr_tmr.publish.program.__main__ import main\n\nmain()\n"


class HelperConfig(Struct, frozen=True):
    """What the program knows: its test, how pytest is run and where. Without a test it can only judge.

    With `own_venv` the working copy gets an environment of its own, which shares the packages of `python`; `repo` is
    the repository that the copy was made from.
    """

    pytest: tuple[str, ...] = ("pytest",)
    args: tuple[str, ...] = ()
    test: str = ""
    file: str = ""
    folder: str = ""
    programs: tuple[str, ...] = ()
    own_venv: bool = False
    python: str = "python3"
    repo: str = ""
    is_local: bool = True


def helper_config(run: RunSpec, task: Task | None = None) -> HelperConfig:
    """What the program has to know in a working copy of this run, and for an agent of its task."""
    options, is_local = run.options, run.options.provider in ("", "local")
    program = run.pytest[0]
    return HelperConfig(
        pytest=run.pytest_in_copy,
        args=run.pytest_args if task else (),
        test=task.node_id if task else "",
        file=task.file if task else "",
        folder=run.folder,
        programs=options.programs,
        own_venv=options.own_venv,
        python=program if os.path.isabs(program) and "python" in os.path.basename(program) else "python3",
        repo=run.repo,
        is_local=is_local,
    )


def helper_program(config: HelperConfig) -> bytes:
    """The program, whole: a zip file that Python runs. The same config gives the same bytes."""
    known = {
        **msgspec.to_builtins(config),
        "schema": json_schema(),
        "schema_text": schema_text(),
        "limit": RAW_LIMIT,
        "plugin": _sources()["pytest_facts.py"].decode(),
    }
    # The modules keep their full names, so that the same imports work here and there.
    members = {"__main__.py": _MAIN, "mngr_tmr/config.json": msgspec.json.encode(known)}
    members |= {f"{folder}/__init__.py": b"" for folder in ("mngr_tmr", "mngr_tmr/publish")}
    members |= {f"{_PROGRAM}/{name}": text for name, text in _sources().items() if name != "pytest_facts.py"}
    packed = io.BytesIO()
    packed.write(_START)
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def helper_setup(setup: str = "", config: HelperConfig | None = None) -> str:
    """The setup of a working copy: writes `mngr-result` first on the agent's PATH, then does what `setup` says.

    Before that the copy gets its own environment, if it shall have one; the setup runs with no other one active, and
    fails where it changed another one.
    """
    config = config or HelperConfig()
    packed = b64encode(helper_program(config)).decode()
    is_guarded = bool(setup) and (config.own_venv or config.is_local)
    prepare = f"mngr_environment {'--setup' if setup else ''} || exit 1\n" if config.own_venv else ""
    if is_guarded:
        prepare += (_OWN_SETUP if config.own_venv else _OUTSIDE_SETUP) + _AFTER_SETUP
    parts = [
        _ENVIRONMENT.format(python=quote(config.python)),
        f"mngr_prepare() {{\n:\n{prepare}}}\n",
        _WRITE.format(packed=packed),
        f"(\n{setup}\n)\n" if is_guarded else setup,
    ]
    return "".join(parts)


@cache
def _sources() -> dict[str, bytes]:
    """The program's modules, and the plugin that it gives to pytest, by file name."""
    folder = files("mngr_tmr.publish")
    found = {
        entry.name: entry.read_bytes() for entry in folder.joinpath("program").iterdir() if entry.is_file()
    }
    return {**found, "pytest_facts.py": folder.joinpath("pytest_facts.py").read_bytes()}
