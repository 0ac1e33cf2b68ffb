"""Integration as entries of the journal."""

from collections.abc import Callable

import pytest

import mngr
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.integration import Integration
from mngr_tmr.run.integration_stage import Integrate, Tell, run_stage
from mngr_tmr.run_folder.folder import RunFolder
from mngr_tmr.run_folder.log import RunLog

DONE = Integration("b" * 40, "tmr/r1/integrated", "c" * 40)


def recorded(integrate: Integrate, *errors: type[BaseException]) -> list[tuple[str, str]]:
    entries: list[Entry] = []
    log = RunLog(RunFolder("no-such-folder"))
    run: Callable[[], object] = lambda: run_stage(integrate, entries.append, lambda: 5.0, log)  # noqa: E731
    if errors:
        with pytest.raises(errors):
            run()
    else:
        assert run() == DONE
    assert {(entry.step, entry.at) for entry in entries} <= {("integrate", 5.0)}
    return [(entry.kind, entry.message) for entry in entries]


@pytest.mark.accept("U2")
def test_each_step_is_recorded_once_and_then_the_end() -> None:
    def integrate(tell: Tell) -> Integration:
        for step in ("merging", "gate lint", "gate lint", "gate suite"):
            tell(step)
        return DONE

    steps = [("noted", "merging"), ("noted", "gate lint"), ("noted", "gate suite")]
    assert recorded(integrate) == [*steps, ("done", "")]


@pytest.mark.accept("U2", "P11")
def test_an_error_is_recorded_and_an_interrupt_leaves_the_integration_open() -> None:
    def fail(_tell: Tell) -> Integration:
        raise mngr.MngrError("no space left", hint="make some")

    def interrupt(tell: Tell) -> Integration:
        tell("merging")
        raise KeyboardInterrupt

    assert recorded(fail, mngr.MngrError) == [("failed", "no space left (make some)")]
    assert recorded(interrupt, KeyboardInterrupt) == [("noted", "merging")]
