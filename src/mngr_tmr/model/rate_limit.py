"""What an agent's words say of a limit of its model's provider: until when, and whether a usage window is closed."""

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from msgspec import Struct

_MOST_S = 8 * 86_400.0
# A limit that lasts longer is no matter of how many requests there are at once.
_WINDOW_S = 600.0
_WINDOW = re.compile(r"\b(usage|session|weekly|monthly|daily|hour|your) limit\b|\bquota\b", re.IGNORECASE)
_EPOCH = re.compile(r"\|(\d{10})(?:\d{3})?\b")
_CLOCK = re.compile(
    r"\b(?:resets?|again)\W+(?:at\W+)?(?:([a-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?,? (?:\d{4},? )?(?:at )?)?"
    r"(\d{1,2})(?::(\d\d))? ?([ap])\.?m\b(?: ?\(([\w/+-]{1,40})\))?",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"\b(?:again|retry|retry-after|resets?|wait)\W+(?:in |after )?((?:\d[\d.]* ?[a-z]+,? ?){1,4})",
    re.IGNORECASE,
)
_PART = re.compile(r"(\d+(?:\.\d+)?) ?(ms|[dhms])", re.IGNORECASE)
_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


class RateLimit(Struct, frozen=True):
    """`until` is 0 where it is not said. `is_window` tells of a usage window that is closed."""

    until: float = 0.0
    is_window: bool = False


def read_rate_limit(text: str, now: float) -> RateLimit:
    """The limit that a message tells of; a time that is past or more than eight days ahead counts as not said."""
    until = _epoch(text) or _time_of_day(text, now) or _after_a_while(text, now)
    until = until if now < until <= now + _MOST_S else 0.0
    return RateLimit(until, bool(_WINDOW.search(text)) or until > now + _WINDOW_S)


def _epoch(text: str) -> float:
    found = _EPOCH.search(text)
    return float(found[1]) if found else 0.0


def _time_of_day(text: str, now: float) -> float:
    """The next such time, in the zone that is named, else in ours."""
    found = _CLOCK.search(text)
    if not found:
        return 0.0
    month, day, hour, minute, half, zone = found.groups()
    try:
        here = (
            datetime.fromtimestamp(now, ZoneInfo(zone)) if zone else datetime.fromtimestamp(now).astimezone()
        )
        time = here.replace(
            hour=int(hour) % 12 + (12 if half in "pP" else 0),
            minute=int(minute or 0),
            second=0,
            microsecond=0,
        )
        if month:
            time = time.replace(month=_MONTHS.index(month.lower()) + 1, day=int(day))
        elif time <= here:
            time += timedelta(days=1)
    except (ValueError, OSError, KeyError):  # no such zone, month, day or hour
        return 0.0
    return time.timestamp()


def _after_a_while(text: str, now: float) -> float:
    found = _SPAN.search(text)
    parts = _PART.findall(found[1]) if found else ()
    return now + sum(float(number) * _UNITS_S[unit.lower()] for number, unit in parts) if parts else 0.0
