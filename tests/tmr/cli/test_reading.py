"""Commands that read a run load nothing that executes one."""

import sys

import pytest

from mngr import process

_EXECUTES = (
    "mngr_tmr.collect",
    "mngr_tmr.copies",
    "mngr_tmr.engine.decide",
    "mngr_tmr.engine.executor",
    "mngr_tmr.engine.loop",
    "mngr_tmr.integrate",
    "mngr_tmr.prompts",
    "mngr_tmr.publish",
    "mngr_tmr.run",
    "mngr_tmr.stages",
    "mngr_tmr.verify",
)


@pytest.mark.parametrize("command", ["runs", "status", "report"])
def test_a_command_that_reads_a_run_loads_nothing_that_executes_one(command: str) -> None:
    program = f"import sys, mngr_tmr.cli.{command}; print(*sys.modules)"
    modules = process.run([sys.executable, "-c", program]).check("it cannot be imported").text.split()
    assert f"mngr_tmr.cli.{command}" in modules
    assert [name for name in modules if f"{name}.".startswith(tuple(f"{room}." for room in _EXECUTES))] == []
