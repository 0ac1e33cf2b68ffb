"""How settings become options of a run."""

import msgspec
import pytest

import mngr
from mngr_tmr.cli.settings import changed_options
from mngr_tmr.model.limits import RunLimits
from mngr_tmr.model.run import RunOptions


def test_limits_are_flat_keys_and_one_record() -> None:
    options = changed_options(RunOptions(), {"context_tokens": [1000, 2000]})
    assert options.limits == RunLimits(context_tokens=(1000, 2000))
    assert changed_options(options, {}).limits == options.limits


@pytest.mark.parametrize("wrong", [[3000, 2000], [0, 1], "many", [1]])
def test_wrong_limits_are_usage_errors(wrong: object) -> None:
    with pytest.raises(mngr.UsageError):
        changed_options(RunOptions(), {"context_tokens": wrong})


def test_options_of_older_runs_have_no_limits_and_are_read() -> None:
    assert msgspec.convert({"slots": 3}, RunOptions).limits == RunLimits()
