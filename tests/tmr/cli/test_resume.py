"""What `mngr tmr resume` says of options that were changed."""

import pytest

from mngr_tmr.cli.resume import differences
from mngr_tmr.model.limits import RunLimits
from mngr_tmr.model.run import RunOptions


@pytest.mark.accept("P12")
def test_changes_are_said_as_a_person_writes_them() -> None:
    before = RunOptions(args=("--model", "opus"), slots=1, labels={"team": "a"})
    limits = RunLimits(context_tokens=(1000, 2000))
    after = RunOptions(slots=2, setup="make", keep=True, labels={"team": "b", "x": "1"}, limits=limits)
    assert differences(before, after) == [
        "args: --model, opus → none",
        "slots: 1 → 2",
        "setup: none → make",
        "labels: team=a → team=b, x=1",
        "keep: no → yes",
        "context_tokens: 20000, 50000 → 1000, 2000",
    ]
