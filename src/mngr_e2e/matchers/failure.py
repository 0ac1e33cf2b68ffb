"""What a failed expectation says: what was wanted, then the command with all it answered."""

from typing import NoReturn, Self

from mngr_e2e.session.result import Output, Result

_SHOWN_MAX = 4000


class ExpectationError(AssertionError):
    """Something was not as expected."""


class Expectation:
    """One value under test. `not_` turns the next expectation round."""

    _negated = False

    @property
    def not_(self) -> Self:
        turned = object.__new__(type(self))
        turned.__dict__.update(self.__dict__)
        turned._negated = not self._negated
        return turned

    def _check(self, holds: bool, wanted: str, found: str) -> None:
        """Fails unless it holds, or, behind `not_`, if it does. `wanted` reads on from "expected it to"."""
        __tracebackhide__ = True
        if holds == self._negated:
            fail(f"expected {'not ' if self._negated else ''}{wanted}", found)


def fail(message: str, found: str) -> NoReturn:
    __tracebackhide__ = True
    raise ExpectationError(f"{message}\n{found}" if found else message)


def describe_result(result: Result) -> str:
    """A command with its exit code and both streams, long ones cut in the middle."""
    first, *rest = result.command.split("\n")
    lines = [f"$ {first}", *(f"> {line}" for line in rest)]
    code = f"{result.exit_code} (timed out)" if result.timed_out else str(result.exit_code)
    lines += [f"exit code: {code}", *_stream("stdout", result.stdout), *_stream("stderr", result.stderr)]
    return "\n".join(lines)


def describe_text(text: str) -> str:
    """The command a text came from with its answer, or the text itself where no command is known."""
    if isinstance(text, Output) and text.result is not None:
        return describe_result(text.result)
    return "\n".join(_stream("text", text))


def trim(text: str, limit: int = _SHOWN_MAX) -> str:
    """A long text without its middle, and how much that was."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


def _stream(name: str, text: str) -> list[str]:
    if not text:
        return [f"{name}: (empty)"]
    return [f"{name}:", *(f"  {line}" for line in trim(text.removesuffix("\n")).split("\n"))]
