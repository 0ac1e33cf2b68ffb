"""Expectations on text, such as a command's output."""

import difflib
import re
from typing import Self

import msgspec

from mngr_e2e.matchers.failure import Expectation, describe_text, fail, origin_of_text
from mngr_e2e.matchers.value import ValueExpectation


class TextExpectation(Expectation):
    """`expect(result.stdout)`, or any text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def to_contain(self, part: str) -> Self:
        __tracebackhide__ = True
        return self._check(part in self._text, f"the text to contain {part!r}", describe_text(self._text))

    def to_match(self, pattern: "str | re.Pattern[str]") -> Self:
        """A regular expression found anywhere; `^` and `$` mean the ends of lines."""
        __tracebackhide__ = True
        compiled = re.compile(pattern, re.MULTILINE) if isinstance(pattern, str) else pattern
        found = compiled.search(self._text) is not None
        return self._check(found, f"the text to match {compiled.pattern!r}", describe_text(self._text))

    def to_equal(self, other: str) -> Self:
        __tracebackhide__ = True
        shown = describe_text(self._text)
        if not self._negated:
            lines = difflib.unified_diff(
                other.splitlines(), self._text.splitlines(), "expected", "found", lineterm=""
            )
            shown = "\n".join([*list(lines)[:100], shown])
        return self._check(str(self._text) == other, f"the text to equal {other!r}", shown)

    def to_be_empty(self) -> Self:
        __tracebackhide__ = True
        return self._check(not self._text, "the text to be empty", describe_text(self._text))

    def to_contain_lines(self, *lines: str) -> Self:
        """Whole lines, in this order; others may stand between them."""
        __tracebackhide__ = True
        have = iter(self._text.splitlines())
        missing = next((line for line in lines if line not in have), None)
        expected = f"the lines {list(lines)!r}, in this order"
        note = "" if missing is None else f"(missing from {missing!r} on)\n"
        return self._check(missing is None, expected, note + describe_text(self._text))

    def to_be_json(self) -> ValueExpectation:
        """One JSON value; the expectation on that value."""
        __tracebackhide__ = True
        try:
            value = msgspec.json.decode(self._text.encode())
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            if self._negated:
                return ValueExpectation(None, self._text)
            fail(f"expected the text to be JSON: {error}{self._origin()}", describe_text(self._text))
        self._check(True, "the text to be JSON", describe_text(self._text))
        return ValueExpectation(value, self._text)

    def _origin(self) -> str:
        return origin_of_text(self._text)
