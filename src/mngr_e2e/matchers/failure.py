"""What a failed expectation says: what was expected, then the command with all it answered."""

from typing import NoReturn, Self

from mngr_e2e.session.result import OutputText, Result

_SHOWN_MAX = 4000
_COMMAND_MAX = 100


class ExpectationError(AssertionError):
    """Something was not as expected; the first line of its message is what pytest's summary shows."""

    # Python shows the module of an exception before its name unless it is this one, and pytest's summary cuts the rest.
    __module__ = "builtins"


class Expectation:
    """One value under test. `not_` turns the next expectation round; every expectation returns one to go on with."""

    _negated = False

    @property
    def not_(self) -> Self:
        turned = object.__new__(type(self))
        turned.__dict__.update(self.__dict__)
        turned._negated = not self._negated
        return turned

    def _check(self, holds: bool, expected: str, found: str) -> Self:
        """Fails unless it holds, or, behind `not_`, if it does; returns the expectation without its `not_`.

        `expected` reads on from "expected".
        """
        __tracebackhide__ = True
        if holds == self._negated:
            fail(f"expected {'not ' if self._negated else ''}{expected}{self._origin()}", found)
        return self.not_ if self._negated else self

    def _origin(self) -> str:
        """How the first line of a failure names the command that the value came from."""
        return ""


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


def origin(result: Result | None) -> str:
    """`: $ COMMAND`, cut to what fits into a line; nothing where no command is known."""
    if result is None:
        return ""
    first, *rest = result.command.split("\n")
    return f": $ {first[:_COMMAND_MAX]}{' …' if rest or len(first) > _COMMAND_MAX else ''}"


def origin_of_text(text: str) -> str:
    return origin(text.result if isinstance(text, OutputText) else None)


def describe_text(text: str) -> str:
    """The command a text came from with its answer, or the text itself where no command is known."""
    if isinstance(text, OutputText) and text.result is not None:
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
