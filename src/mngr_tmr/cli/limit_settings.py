"""The limits of a run as options and as keys of the config's `[tmr]`."""

from collections.abc import Mapping
from typing import Any

import click
import msgspec

import mngr
from mngr_tmr.model.limits import RunLimits
from mngr_tmr.model.money import parse_amount

_AMOUNTS = ("budget", "agent_budget", "daily_budget", "agent_rate")
_TIMES = ("meter",)
LIMIT_KEYS = tuple(name.removesuffix("_s") for name in RunLimits.__struct_fields__)

budget_options = (
    click.option(
        "--budget",
        metavar="AMOUNT",
        help="What the testing agents may use, all together: 25usd, 3Mtok (default: no limit).",
    ),
    click.option(
        "--agent-budget",
        metavar="AMOUNT",
        help="What one of them may use: 1usd, 500ktok (default: no limit).",
    ),
)


def changed_limits(limits: RunLimits, settings: Mapping[str, Any]) -> RunLimits:
    """The limits changed by the settings; a wrong value is a usage error, or a ValidationError that names it."""
    fields = {key: settings[key] for key in LIMIT_KEYS if key in settings}
    for key in _AMOUNTS:
        if key in fields:
            fields[key] = str(fields[key])
            parse_amount(fields[key], key if key == "agent_rate" else key.replace("_", " "))
    for key in _TIMES:
        if key in fields:
            fields[f"{key}_s"] = mngr.parse_duration(str(fields.pop(key)))
    changed = msgspec.convert({**msgspec.to_builtins(limits), **fields}, RunLimits)
    least, most = changed.context_tokens
    if not 0 < least <= most:
        raise mngr.UsageError(
            f"context_tokens cannot be {least} to {most}",
            hint="the least first: context_tokens = [20000, 50000]",
        )
    return changed
