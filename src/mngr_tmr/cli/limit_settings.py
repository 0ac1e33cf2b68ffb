"""The limits of a run as keys of the config's `[tmr]`."""

from collections.abc import Mapping
from typing import Any

import msgspec

import mngr
from mngr_tmr.model.limits import RunLimits

LIMIT_KEYS = RunLimits.__struct_fields__


def changed_limits(limits: RunLimits, settings: Mapping[str, Any]) -> RunLimits:
    """The limits changed by the settings; a wrong value is a usage error, or a ValidationError that names it."""
    fields = {key: settings[key] for key in LIMIT_KEYS if key in settings}
    changed = msgspec.convert({**msgspec.to_builtins(limits), **fields}, RunLimits)
    least, most = changed.context_tokens
    if not 0 < least <= most:
        raise mngr.UsageError(
            f"context_tokens cannot be {least} to {most}",
            hint="the least first: context_tokens = [20000, 50000]",
        )
    return changed
