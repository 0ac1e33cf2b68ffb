"""Labels: `KEY=VALUE` pairs that people and pipelines put on agents."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from mngr.errors import UsageError

# Compiled at the first use: most commands need none of it.
_KEY = r"[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?\Z"

LABELS_LIMIT = 64 * 1024
"""How many characters all labels of an agent may have together."""


def are_labels(value: Any) -> bool:
    """Whether it is a table of labels that an agent can have."""
    if not isinstance(value, dict):
        return False
    length = 0
    for key, text in value.items():
        if not (isinstance(key, str) and isinstance(text, str) and re.match(_KEY, key)) or "\0" in text:
            return False
        length += len(key) + len(text)
    return length <= LABELS_LIMIT


def check_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels themselves, or an error that says which of them cannot be used."""
    for key in labels:
        check_label_key(key)
    if not are_labels(dict(labels)):
        raise UsageError(
            f"the labels hold a NUL, or more than {LABELS_LIMIT} characters",
            hint="put the text into a file of the work dir",
        )
    return dict(labels)


def check_label_key(key: str) -> str:
    if re.match(_KEY, key):
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
