"""What agents used: their counts come from their own records, so every number is checked before it is believed."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from mngr_lib.files import read_regular
from mngr_lib.safe_text import one_line

_MOST_TOKENS = 10**12
_MOST_USD = 10**6
_MOST_MODELS = 20
_LONGEST_NAME = 100
_MOST_BYTES = 1 << 20
_COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "turns")
_NAMES = ("models", "unpriced")


class AgentUsage(Struct, frozen=True, omit_defaults=True):
    """Tokens and dollars. `cost_usd` covers the models whose price is known; `unpriced` names the others.

    `problem` says what of the records could not be used; it counts as nothing.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None
    turns: int = 0
    models: tuple[str, ...] = ()
    unpriced: tuple[str, ...] = ()
    problem: str = ""

    @property
    def tokens(self) -> int:
        """All of them, cached ones included."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens


NO_USAGE = AgentUsage()


def make_usage(data: Any) -> AgentUsage:
    """The usage in a mapping or record of a stranger; what has no sensible value is left out and named."""
    if isinstance(data, Struct):
        data = msgspec.structs.asdict(data)
    if not isinstance(data, Mapping):
        return AgentUsage(problem="it is not a table")
    fields: dict[str, Any] = {}
    for name in _COUNTS:
        number = data.get(name, 0)
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        fields[name] = int(number) if is_number and 0 <= number <= _MOST_TOKENS else None
    for name in _NAMES:
        names = data.get(name, ())
        is_list = isinstance(names, list | tuple) and all(isinstance(one, str) for one in names)
        fields[name] = (
            tuple(one_line(one, _LONGEST_NAME) for one in names[:_MOST_MODELS]) if is_list else None
        )
    usd, cost = data.get("cost_usd"), None
    if isinstance(usd, int | float) and not isinstance(usd, bool) and 0 <= usd <= _MOST_USD:
        cost = float(usd)
    fields["cost_usd"] = cost
    wrong = [name for name, value in fields.items() if value is None and name != "cost_usd"]
    if cost is None and usd is not None:
        wrong.append("cost_usd")
    problem = data.get("problem", "")
    problems = [one_line(problem, _LONGEST_NAME * 2)] if isinstance(problem, str) and problem else []
    problems += [f"{', '.join(wrong)} cannot be read"] if wrong else []
    kept = {name: value for name, value in fields.items() if name not in wrong}
    return AgentUsage(**kept, problem="; ".join(problems))


def read_usage(path: str) -> AgentUsage:
    """The usage in a file; none where there is no file."""
    try:
        return make_usage(msgspec.json.decode(read_regular(path, _MOST_BYTES)))
    except FileNotFoundError:
        return NO_USAGE
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError) as error:
        return AgentUsage(problem=f"usage.json cannot be read: {one_line(str(error), _LONGEST_NAME)}")


def add_usages(usages: Iterable[AgentUsage]) -> AgentUsage:
    """The sum; its cost is that of those whose cost is known, None where none is."""
    usages = tuple(usages)
    costs = [one.cost_usd for one in usages if one.cost_usd is not None]
    fields: dict[str, Any] = {name: sum(getattr(one, name) for one in usages) for name in _COUNTS}
    for name in _NAMES:
        fields[name] = tuple(sorted({each for one in usages for each in getattr(one, name)}))[:_MOST_MODELS]
    problem = next((one.problem for one in usages if one.problem), "")
    return AgentUsage(**fields, cost_usd=sum(costs) if costs else None, problem=problem)
