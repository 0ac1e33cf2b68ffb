"""Expectations on a JSON value."""

import re
from collections.abc import Sequence
from typing import Any, Self, TypeAlias

from mngr_e2e.matchers.failure import Expectation, describe_text, origin_of_text, trim

JsonPath: TypeAlias = str | Sequence[str | int]

_MISSING = object()
_ANY = object()


class ValueExpectation(Expectation):
    """`expect(result.stdout).to_be_json()`, or a dict or list."""

    def __init__(self, value: Any, text: str = "") -> None:
        self.value = value
        self._text = text

    def to_have(self, path: JsonPath, value: object = _ANY) -> Self:
        """A value at a path such as "agents[0].name" or ("agents", 0, "name"); any value when none is named."""
        __tracebackhide__ = True
        found = self.value
        for step in re.findall(r"[^.\[\]]+", path) if isinstance(path, str) else path:
            if isinstance(found, dict):
                found = found.get(step, _MISSING)
            elif isinstance(found, list) and re.fullmatch(r"-?\d+", str(step)):
                found = found[int(step)] if -len(found) <= int(step) < len(found) else _MISSING
            else:
                found = _MISSING
        holds = found is not _MISSING and (value is _ANY or _same(found, value))
        expected = f"JSON with {path!r}" + ("" if value is _ANY else f" = {value!r}")
        at = "nothing is there" if found is _MISSING else f"there is {trim(repr(found), 500)}"
        return self._check(holds, f"{expected}; {at}", self._found())

    def to_equal(self, value: object) -> Self:
        __tracebackhide__ = True
        return self._check(_same(self.value, value), f"JSON equal to {value!r}", self._found())

    def to_have_length(self, length: int) -> Self:
        __tracebackhide__ = True
        have = len(self.value) if isinstance(self.value, (list, dict, str)) else None
        return self._check(have == length, f"{length} elements; there are {have}", self._found())

    def _origin(self) -> str:
        return origin_of_text(self._text)

    def _found(self) -> str:
        return describe_text(self._text) if self._text else f"value: {trim(repr(self.value))}"


def _same(found: object, expected: object) -> bool:
    """Equal, and true is not 1."""
    if isinstance(found, bool) != isinstance(expected, bool):
        return False
    return found == expected
