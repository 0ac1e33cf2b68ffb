"""The acceptance lines S1 to S10, E1 and O14, judged from results; what was not measured is neither met nor missed."""

from collections.abc import Iterator

from bench.results import (
    BARE,
    CODING_AGENTS,
    CONTAINER,
    CREATE,
    DESTROY,
    EXEC,
    FLOOR,
    HELP,
    OURS,
    PEER,
    SHELLS,
    START,
    STOP,
    Results,
    create_row,
    destroy_many_row,
    list_row,
    stop_many_row,
    stop_row,
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
    return [
        *_s1(results),
        *_s2(results),
        *_s3(results),
        *_s4(results),
        *_s5(results),
        *_s6(results),
        *_s7(results),
        *_s8(results),
        *_s9(results),
        *_s10(results),
        *_remote(results),
        *_sandboxes(results),
        *_containers(results),
        *_claudes(results),
        *_history(results),
        *_redaction(results),
    ]


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
    promise = "`create` ≤ its floor + 10 bare interpreter starts"
    yield _at_most("S3", promise, _starts_over_floor(results), 10, "floor + {:.1f} starts")
    ratio = results.ratio((create_row(100), OURS), (create_row(100), FLOOR))
    yield _at_most("S3", "100 through `create -` ≤ 2 x the floor per agent", ratio, 2)


def _starts_over_floor(results: Results) -> float | None:
    """How many bare interpreter starts `create` takes longer than its floor."""
    ours, floor, bare = results.seconds(CREATE, OURS), results.seconds(CREATE, FLOOR), results.seconds(*_BARE)
    return (ours - floor) / bare if ours and floor and bare else None


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


def _s6(results: Results) -> Iterator[Verdict]:
    span = next((one for one in results.makespans if one.tasks == 200), None)
    ratio = span.seconds / span.ideal_s if span else None
    yield _at_most("S6", "200 agents on 20 slots ≤ 1.1 x total / slots", ratio, 1.1, "{:.2f} x")
    noticed = span.noticed_most_s if span else None
    yield _at_most("S6", "a finished agent is noticed within 1 s", noticed, 1, "{:.2f} s")
    share = results.idle.core_share * 100 if results.idle else None
    yield _at_most("C", "the orchestrator takes ≤ 2 % of a core for 20 idle agents", share, 2, "{:.1f} %")


def _s7(results: Results) -> Iterator[Verdict]:
    few, many = (
        next((one for one in results.integrated if one.branches == size), None) for size in (10, 100)
    )
    ratio = many.seconds / few.seconds / 10 if few and many else None
    yield _at_most("S7", "a branch of 100 is integrated in ≤ 1.5 x the time of one of 10", ratio, 1.5)
    processes = many.processes / few.processes / 10 if few and many else None
    yield _at_most("S7", "with ≤ 1.5 x its git processes", processes, 1.5)
    sim = results.simulated
    yield _at_least(
        "S7", "10,000 simulated tasks use ≥ 95 % of the slots", sim.use * 100 if sim else None, 95, "{:.1f} %"
    )
    yield _at_most("S7", "in ≤ 500 MB", sim.memory_mb if sim else None, 500, "{:.0f} MB")


def _s8(results: Results) -> Iterator[Verdict]:
    page = next((page for page in results.pages if page.tests == 1000), None)
    what = "the page of 1,000 tests"
    yield _at_most("S8", f"{what} ≤ 0.4 x its artifacts", page.ratio if page else None, 0.4, "{:.2f} x")
    paint_s = page.paint_ms / 1000 if page else None
    yield _at_most("S8", f"{what} is painted within 1 s", paint_s, 1, "{:.2f} s")
    yield _at_most(
        "S8", f"{what} asks nobody for anything", page.requests if page else None, 0, "{:g} requests"
    )


def _redaction(results: Results) -> Iterator[Verdict]:
    promise = "what is written is searched for secrets at ≥ 50 MB/s"
    yield _at_least("O17", promise, results.redaction, 50, "{:.0f} MB/s")


def _s9(results: Results) -> Iterator[Verdict]:
    for row in (CREATE, list_row(1), list_row(10), EXEC, STOP, DESTROY):
        ratio = results.ratio((row, PEER), (row, OURS))
        yield _at_least("S9", f"`{row}` ≥ 12 x faster than the peer", ratio, 12)
    promise = "`create` ≤ its floor + 7 bare interpreter starts"
    yield _at_most("S9", promise, _starts_over_floor(results), 7, "floor + {:.1f} starts")
    for row in (stop_many_row(100), destroy_many_row(100)):
        ratio = results.ratio((row, OURS), (row, FLOOR))
        yield _at_most("S9", f"`{row}` ≤ 3 x its floor", ratio, 3)
    for program in (*(" ".join(shell) for shell in SHELLS), *CODING_AGENTS):
        row = stop_row(program)
        ours, floor = results.seconds(row, OURS), results.seconds(row, FLOOR)
        over = ours - floor if ours is not None and floor is not None else None
        yield _at_most("S9", f"`{row}` ≤ 1 s longer than it takes by itself", over, 1, "{:.2f} s")


def _s10(results: Results) -> Iterator[Verdict]:
    row = create_row(1000)
    ratio = results.ratio((row, OURS), (row, FLOOR))
    yield _at_most("S10", "1,000 through `create -` ≤ 1.2 x the floor per agent", ratio, 1.2, "{:.2f} x")


def _containers(results: Results) -> Iterator[Verdict]:
    ratio = results.ratio((CONTAINER, OURS), (CONTAINER, FLOOR))
    yield _at_most("E", f"`{CONTAINER}` ≤ 2 x bare `docker run` and `git clone`", ratio, 2)
    yield _at_most("E", "with at most three commands in it", results.execs, 3, "{:g}")


def _remote(results: Results) -> Iterator[Verdict]:
    """Machines by ssh."""
    found = results.remote
    second = found.second_command_s / found.bare_ssh_s if found else None
    yield _at_most("E", "a second command ≤ 3 x a bare `ssh` over the same connection", second, 3)
    late = found.late_list_all_s / found.late_list_one_s if found else None
    yield _at_most("E", "`list` of 10 hosts ≤ 2 x one, when each is 200 ms away", late, 2)
    near = found.list_all_s / found.list_one_s if found else None
    yield _at_most("E", "`list` of 10 hosts ≤ 4 x one, without latency", near, 4)
    noticed = found.noticed_s if found else None
    yield _at_most("E", "a finished agent is noticed within 2 s over ssh (S6)", noticed, 2, "{:.2f} s")


def _sandboxes(results: Results) -> Iterator[Verdict]:
    """200 stub sandboxes at a loopback Modal; loading its SDK, which takes most of a second, is not counted."""
    found = next((one for one in results.sandboxes if one.hosts == 200), None)
    what = "`list` of 200 sandboxes"
    yield _at_least("E1", f"{what} shows all of them", found.seen if found else None, 200, "{:g}")
    seconds = found.seconds - found.loading_s if found else None
    yield _at_most("E1", f"{what} within 1.5 s, at 60 ms per call", seconds, 1.5, "{:.2f} s")
    calls = found.calls / found.hosts if found else None
    yield _at_most("E1", f"{what} makes at most 3 calls for each, beside the listing", calls, 3.05, "{:.2f}")
    descriptors = found.descriptors if found else None
    yield _at_most("E1", f"{what} needs at most 400 descriptors", descriptors, 400, "{:g}")
    cpu_s = found.cpu_s - found.loading_cpu_s if found else None
    yield _at_most("E1", f"{what} takes at most 1 s of CPU", cpu_s, 1, "{:.2f} s")
    calls = found.exec_calls if found else None
    yield _at_most("E1", "`exec` by a bare name makes at most 30 calls", calls, 30, "{:g}")


def _claudes(results: Results) -> Iterator[Verdict]:
    """Real coding agents; a measurement of the same thing twice differs by a few percent."""
    found = results.claudes
    ratio = found.list_s / found.list_commands_s if found else None
    yield _at_most(
        "D", "`list` with 20 Claude Codes costs what 20 plain commands cost", ratio, 1.2, "{:.2f} x"
    )
    confirmed = found.confirmed_s if found else None
    yield _at_most("D", "a message is confirmed within 1 s of Claude Code's hook", confirmed, 1, "{:.2f} s")
    ended = found.ended_s if found else None
    yield _at_most("D", "the end of a turn of Claude Code is seen within 1 s", ended, 1, "{:.2f} s")


def _history(results: Results) -> Iterator[Verdict]:
    one = results.indexed if results.indexed and results.indexed.runs == 500 else None
    what = "the index of 1,000 tests x 500 runs"
    yield _at_most("O14", f"{what} ≤ 50 MB", one.file_bytes / 1e6 if one else None, 50, "{:.1f} MB")
    yield _at_most("O14", f"{what} answers within 1 s", one.answer_s if one else None, 1, "{:.2f} s")


def _at_most(line: str, promise: str, found: float | None, limit: float, form: str = "{:.1f} x") -> Verdict:
    if found is None:
        return Verdict(line, promise, "not measured", None)
    return Verdict(line, promise, form.format(found), found <= limit)


def _at_least(line: str, promise: str, found: float | None, limit: float, form: str = "{:.1f} x") -> Verdict:
    if found is None:
        return Verdict(line, promise, "not measured", None)
    return Verdict(line, promise, form.format(found), found >= limit)
