"""What agents show of a provider's limit, as the programs write it."""

from datetime import UTC, datetime

import pytest

from mngr_tmr.model.rate_limit import RateLimit, read_rate_limit

pytestmark = pytest.mark.accept("O6")

NOW = datetime(2026, 3, 2, 13, 5, tzinfo=UTC).timestamp()


def at(hour: int, minute: int = 0, day: int = 2) -> float:
    return datetime(2026, 3, day, hour, minute, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "until", "is_window"),
    [
        (f"Claude AI usage limit reached|{int(NOW) + 60}", NOW + 60, True),
        ("You've hit your session limit · resets 2pm (UTC)", at(14), True),
        ("5-hour limit reached ∙ resets 3:30pm (Europe/Berlin)", at(14, 30), True),
        ("You've hit your limit · resets 1am (UTC)", at(1, day=3), True),
        ("Weekly limit reached ∙ resets Mar 5, 10am (UTC)", at(10, day=5), True),
        ("You've hit your usage limit. Upgrade, or try again in 2 hours 5 minutes.", NOW + 7500, True),
        ("Rate limit reached for o9. Please try again in 1.5s.", NOW + 1.5, False),
        ("429 Too Many Requests: retry after 6m0s", NOW + 360, False),
        ("retry-after: 30s", NOW + 30, False),
        ("Please try again in 250ms", NOW + 0.25, False),
        ("API Error: 529 overloaded_error", 0, False),
        ("Weekly limit reached ∙ resets Feb 30, 10am (UTC)", 0, True),
        ("limit reached, resets 2pm (No/Where)", 0, False),
        (f"usage limit reached|{int(NOW) - 60}", 0, True),
        ("try again in 99999 days", 0, False),
        ("", 0, False),
    ],
)
def test_the_time_and_the_kind_of_a_limit(text: str, until: float, is_window: bool) -> None:
    assert read_rate_limit(text, NOW) == RateLimit(until, is_window)
