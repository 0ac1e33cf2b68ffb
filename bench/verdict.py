"""The acceptance lines S1 to S5, judged from results; what was not measured is neither met nor missed."""

from collections.abc import Iterator

from bench.results import (
    BARE,
    CREATE,
    DESTROY,
    EXEC,
    FLOOR,
    HELP,
    OURS,
    PEER,
    START,
    STOP,
    Results,
    create_row,
    list_row,
)
from msgspec import Struct

_BARE = (START, BARE)


class Verdict(Struct, frozen=True):
    """One promise, what was found, and whether it holds; None: not measured in this run."""

    line: str
    promise: str
    found: str
    met: bool | None


def verdicts(results: Results) -> list[Verdict]:
    """All lines, in order."""
    return [*_s1(results), *_s2(results), *_s3(results), *_s4(results), *_s5(results)]


def _s1(results: Results) -> Iterator[Verdict]:
    for row, limit in ((HELP, 6), (list_row(10), 8)):
        ratio = results.ratio((row, OURS), _BARE)
        yield _at_most("S1", f"`{row}` ≤ {limit} x a bare interpreter start", ratio, limit)


def _s2(results: Results) -> Iterator[Verdict]:
    rows = [(row, 10) for row in (CREATE, list_row(1), list_row(10), EXEC, STOP, DESTROY)]
    for row, limit in [*rows, (list_row(100), 20)]:
        ratio = results.ratio((row, PEER), (row, OURS))
        yield _at_least("S2", f"`{row}` ≥ {limit} x faster than the peer", ratio, limit)


def _s3(results: Results) -> Iterator[Verdict]:
    ours, floor, bare = results.seconds(CREATE, OURS), results.seconds(CREATE, FLOOR), results.seconds(*_BARE)
    known = ours is not None and floor is not None and bare is not None
    over = (ours - floor) / bare if known and ours and floor and bare else None
    yield _at_most(
        "S3", "`create` ≤ its floor + 10 bare interpreter starts", over, 10, "floor + {:.1f} starts"
    )
    ratio = results.ratio((create_row(100), OURS), (create_row(100), FLOOR))
    yield _at_most("S3", "100 through `create -` ≤ 2 x the floor per agent", ratio, 2)


def _s4(results: Results) -> Iterator[Verdict]:
    ratio = results.ratio((list_row(1000), OURS), (list_row(10), OURS))
    yield _at_most("S4", "`list` of 1,000 ≤ 3 x `list` of 10", ratio, 3)
    few, many = results.processes.get(10), results.processes.get(1000)
    promise = "`list` starts as many processes for 1,000 agents as for 10"
    if few is None or many is None:
        yield Verdict("S4", promise, "not measured", None)
    else:
        yield Verdict("S4", promise, f"{few} and {many}", few == many)


def _s5(results: Results) -> Iterator[Verdict]:
    memory = results.memory
    per_agent = memory.processes_per_agent if memory else None
    yield _at_most("S5", "no process of ours per idle agent", per_agent, 0, "{:g}")
    recorder = memory.recorder_rss / 1024 if memory else None
    yield _at_most("S5", "recording ≤ 2 MB resident each", recorder, 2, "{:.1f} MB")
    index = memory.index_rss / 1024 if memory else None
    yield _at_most("S5", "recording ≤ 8 MB resident per host for its index", index, 8, "{:.1f} MB")


def _at_most(line: str, promise: str, found: float | None, limit: float, form: str = "{:.1f} x") -> Verdict:
    if found is None:
        return Verdict(line, promise, "not measured", None)
    return Verdict(line, promise, form.format(found), found <= limit)


def _at_least(line: str, promise: str, found: float | None, limit: float) -> Verdict:
    if found is None:
        return Verdict(line, promise, "not measured", None)
    return Verdict(line, promise, f"{found:.1f} x", found >= limit)
