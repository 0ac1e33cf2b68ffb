"""Labels: `KEY=VALUE` pairs that people and pipelines put on agents."""

import re
from collections.abc import Iterable

from mngr.errors import UsageError

_KEY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?\Z")


def check_label_key(key: str) -> str:
    if _KEY.match(key):
        return key
    raise UsageError(f"label key {key!r} cannot be used", hint="letters, digits and . _ / -, at most 63")


def parse_labels(pairs: Iterable[str]) -> dict[str, str]:
    """Reads `K=V` words; the last one wins."""
    labels = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f'label "{pair}" has no "="', hint=f'write --label "{pair}=VALUE"')
        labels[check_label_key(key)] = value
    return labels
