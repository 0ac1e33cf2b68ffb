"""Durations as people write them: `90`, `1.5s`, `10m`, `2h`, `1h30m`, `3d`."""

import re

from mngr.errors import UsageError

_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
# Compiled at the first use: most commands need none of it.
_PART = r"(?a)(\d{1,12}(?:\.\d{1,9})?)(ms|s|m|h|d)"
_PLAIN = r"(?a)\d{1,12}(?:\.\d{1,9})?\Z"


def parse_duration(text: str) -> float:
    """Seconds. A bare number is seconds."""
    words = text.strip().lower()
    if re.match(_PLAIN, words):
        return float(words)
    parts = re.findall(_PART, words)
    if not parts or "".join(number + unit for number, unit in parts) != words:
        raise UsageError(f"{text!r} is not a duration", hint="write 90, 1.5s, 10m, 2h or 1h30m")
    return float(sum(float(number) * _SECONDS[unit] for number, unit in parts))
