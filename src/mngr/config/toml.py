"""TOML in and out: bounded, and whatever is wrong with it becomes a UsageError that says where."""

from typing import Any

from mngr.config.keys import join_key, quote_text
from mngr.errors import UsageError

_MOST_DEPTH = 32
# tomllib takes quadratic time for one dotted key of many parts.
_MOST_DOTS_A_LINE = 2000
_STARTS_A_VALUE = frozenset("\"'[{+-0123456789")
_WORDS: dict[str, Any] = {"true": True, "false": False}


def decode(data: bytes, source: str) -> str:
    """The text of a TOML file."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{source} is not valid TOML: not UTF-8 (at line {line})", hint="save it as UTF-8"
        ) from None


def parse_document(data: bytes, source: str) -> dict[str, Any]:
    """The tables of a TOML file. `source` names it in errors."""
    text = decode(data, source)
    if any(line.count(".") > _MOST_DOTS_A_LINE for line in text.split("\n")):
        raise UsageError(f"{source}: a line has more than {_MOST_DOTS_A_LINE} dots", hint="this is no config")
    from tomllib import loads  # 20 ms: only where there is a file

    try:
        document = loads(text)
    except RecursionError:
        raise UsageError(f"{source}: nested too deeply", hint=f"at most {_MOST_DEPTH} levels") from None
    except ValueError as error:
        where = f"at line {text.count(chr(10)) + 1}, the end of the file"
        problem = str(error).replace("at end of document", where)
        raise UsageError(
            f"{source} is not valid TOML: {problem}", hint="fix that line: mngr config edit"
        ) from None
    check_bounds(document, source)
    return document


def parse_value(text: str) -> Any:
    """A TOML value where the text is one (`3`, `true`, `["a"]`), else the text itself. Dates stay text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[:1] not in _STARTS_A_VALUE:
        return text
    from tomllib import loads  # 20 ms: only for what can be more than a plain word

    try:
        alone = loads(f"x = {text}")
        # A comment in the text hides the bracket, so `3 # three` stays text.
        loads(f"x = [{text}]")
    except (ValueError, RecursionError):
        return text
    if alone.keys() != {"x"} or hasattr(alone["x"], "isoformat"):
        return text
    return alone["x"]


def format_value(value: Any) -> str:
    """The value as TOML on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return quote_text(value)
    if isinstance(value, list):
        return "[" + ", ".join(format_value(item) for item in value) + "]"
    if isinstance(value, dict):
        pairs = (f"{join_key([key])} = {format_value(item)}" for key, item in value.items())
        return "{ " + ", ".join(pairs) + " }" if value else "{}"
    return str(value.isoformat())


def check_bounds(document: dict[str, Any], source: str) -> None:
    """Refuses what would make later code recurse too deep or print numbers without end."""
    waiting: list[tuple[Any, int]] = [(document, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > _MOST_DEPTH:
            raise UsageError(f"{source}: nested too deeply", hint=f"at most {_MOST_DEPTH} levels")
        if isinstance(value, dict):
            waiting.extend((item, depth + 1) for item in value.values())
        elif isinstance(value, list):
            waiting.extend((item, depth + 1) for item in value)
        elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            raise UsageError(f"{source}: a number does not fit 64 bits", hint="write it as text, in quotes")
