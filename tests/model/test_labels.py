"""Labels."""

import pytest

from mngr.errors import UsageError
from mngr.model.labels import parse_labels


def test_reads_pairs_and_keeps_everything_after_the_first_equals_sign() -> None:
    assert parse_labels(["team=a", "q=x=y", "team=b", "empty="]) == {"team": "b", "q": "x=y", "empty": ""}


@pytest.mark.parametrize("pair", ["plain", "=x", "a b=c", "-a=b", "a\n=b"])
def test_refuses_what_is_no_label(pair: str) -> None:
    with pytest.raises(UsageError):
        parse_labels([pair])
