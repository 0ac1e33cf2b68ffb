"""What became easier in a test: assertions that are gone or ask less, skips, expected failures, longer deadlines."""

from collections import Counter
from collections.abc import Iterable, Iterator

from mngr_tmr.integrate.evidence.test_assertions import FunctionAssertions, read_assertions
from mngr_tmr.model.integration import WeakenedAssertion

_MOST = 200
_TEXT = 300


def weakenings(file: str, before: bytes, after: bytes) -> tuple[WeakenedAssertion, ...]:
    """What one test file asks less than before; a file that cannot be read as Python tells nothing."""
    old, new = read_assertions(before), read_assertions(after)
    if old is None or new is None:
        return ()
    found: list[WeakenedAssertion] = []
    for name, was in old.items():
        if (now := new.get(name)) is None:
            found += [WeakenedAssertion("test_deleted", file, name)] if was.is_test else []
            continue
        found += _excuses(file, name, was, now)
        gone = (Counter(was.assertions) - Counter(now.assertions)).elements()
        fresh = list((Counter(now.assertions) - Counter(was.assertions)).elements())
        for assertion in (one for one in gone if one.strength):
            alike = [other for other in fresh if other.subjects & assertion.subjects]
            if not alike:
                found.append(WeakenedAssertion("removed", file, name, assertion.text[:_TEXT]))
                continue
            match = max(alike, key=lambda other: other.strength)
            fresh.remove(match)
            if match.strength < assertion.strength:
                texts = assertion.text[:_TEXT], match.text[:_TEXT]
                found.append(WeakenedAssertion("weakened", file, name, *texts))
    for name in (name for name in new if name not in old):
        found += _excuses(file, name, FunctionAssertions(), new[name])
    return tuple(found[:_MOST])


def _excuses(
    file: str, name: str, was: FunctionAssertions, now: FunctionAssertions
) -> Iterator[WeakenedAssertion]:
    for text in _more(was.skips, now.skips):
        yield WeakenedAssertion("skipped", file, name, after=text[:_TEXT])
    for text in _more(was.xfails, now.xfails):
        yield WeakenedAssertion("xfailed", file, name, after=text[:_TEXT])
    for place, limit in now.timeouts.items():
        if place in was.timeouts and limit > was.timeouts[place]:
            before, after = (f"{place}={number:g}" for number in (was.timeouts[place], limit))
            yield WeakenedAssertion("timeout_raised", file, name, before, after)
    if now.cases < was.cases:
        yield WeakenedAssertion("removed", file, name, f"{was.cases} parametrized cases", f"{now.cases}")


def _more(was: Iterable[str], now: Iterable[str]) -> Iterable[str]:
    return (Counter(now) - Counter(was)).elements()
