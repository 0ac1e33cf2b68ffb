"""Times that a page can show, from numbers that anyone may have written."""

_LAST = 1e11
_LONGEST_S = 1e8


def moment(seconds: float) -> float:
    """Seconds since 1970, or 0 for what is no time."""
    return seconds if 0 <= seconds < _LAST else 0.0


def length(seconds: float) -> float:
    return seconds if 0 <= seconds < _LONGEST_S else 0.0
