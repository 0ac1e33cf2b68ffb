"""Results as markdown: one table of times and ratios, one of verdicts."""

from collections.abc import Iterable, Sequence

from bench.results import (
    BARE,
    CONTAINER,
    CREATE,
    DESTROY,
    EXEC,
    FLOOR,
    HELP,
    MESSAGE,
    OURS,
    PEER,
    START,
    STOP,
    Results,
)
from bench.verdict import Verdict, verdicts

_NONE = "-"
_AT_ONCE = "at once"
_ORDER = (START, HELP, CREATE, "list", EXEC, MESSAGE, STOP, DESTROY, "x create", _AT_ONCE, CONTAINER)
_ANSWERS = {True: "met", False: "**missed**", None: "not measured"}


def render(results: Results) -> str:
    """The whole of RESULTS.md."""
    parts = [
        _heading(results),
        _times(results),
        _costs(results),
        _makespans(results),
        _remote(results),
        _sandboxes(results),
        _integrated(results),
        _indexed(results),
        _pages(results),
        _verdicts(verdicts(results)),
        _notices(results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _heading(results: Results) -> str:
    machine = results.machine
    where = f"{machine.cores} cores, {machine.memory_gb:g} GB, {', '.join(machine.versions)}"
    return f"""\
# Speed, measured against the bare commands and the published peer

Written by `make bench` on {machine.date}. {where}.

Medians of one interleaved run, best time in brackets. *Floor* is the same by bare `git`, `tmux` and `sh`; *bare* is the
start of an interpreter that does nothing; *peer* is `imbue-mngr` from PyPI. Agents run `sleep` where no
other program is named; of a coding agent the floor is how long it needs to end by itself after TERM."""


def _times(results: Results) -> str:
    heads = ("", "ours", "floor", "peer", "ours / bare", "ours / floor", "peer / ours")
    rows = [_row(results, row) for row in sorted(results.times, key=_place) if row != START]
    start = results.times.get(START, {}).get(BARE)
    first = [(START + " (bare)", _cell(start.median_s, start.best_s), *(_NONE,) * 5)] if start else []
    return _table(heads, [*first, *rows])


def _place(row: str) -> tuple[int, int]:
    """Rows in the order of a session; lists by their number of agents."""
    number = int("0" + "".join(filter(str.isdigit, row)))
    kind = next(name for name in reversed(_ORDER) if name in row)
    return _ORDER.index(kind), number


def _row(results: Results, row: str) -> tuple[str, ...]:
    ours = (row, OURS)
    ratios = (
        results.ratio(ours, (START, BARE)),
        results.ratio(ours, (row, FLOOR)),
        results.ratio((row, PEER), ours),
    )
    cells = []
    for contender in (OURS, FLOOR, PEER):
        timing = results.times[row].get(contender)
        cells.append(_cell(timing.median_s, timing.best_s) if timing else _NONE)
    return (row, *cells, *(_NONE if ratio is None else f"{ratio:.1f} x" for ratio in ratios))


def _cell(median_s: float, best_s: float) -> str:
    return f"{_time(median_s)} ({_time(best_s)})"


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def _costs(results: Results) -> str:
    lines = []
    if results.processes:
        counts = ", ".join(
            f"{count} with {agents:,} agents" for agents, count in sorted(results.processes.items())
        )
        lines.append(f"- Processes that `list` starts, itself included: {counts}.")
    if results.memory:
        memory = results.memory
        lines.append(
            f"- An idle agent, beside its own program: {memory.processes_per_agent:g} processes of ours; "
            f"the tmux server grows by {memory.server_per_agent:.0f} KB."
        )
        lines.append(
            f"- A recorded agent: {memory.recorder_rss / 1024:.1f} MB resident ({memory.recorder_pss:.0f} KB when "
            f"shared pages are divided); its host's index writer: {memory.index_rss / 1024:.1f} MB."
        )
    if results.execs is not None:
        lines.append(f"- A creation in a container runs {results.execs} commands in it.")
    if results.claudes:
        found = results.claudes
        lines.append(
            f"- `list` with {found.agents} living Claude Codes: {_time(found.list_s)}; with as many plain commands: "
            f"{_time(found.list_commands_s)}. A message to one is confirmed at most {_time(found.confirmed_s)} after "
            f"its hook, its end of turn is seen at most {_time(found.ended_s)} later."
        )
    return "\n".join(lines)


def _makespans(results: Results) -> str:
    heads = (
        "the pipeline with",
        "slots",
        "total / slots",
        "makespan",
        "ratio",
        "noticed after",
        "at most",
        "lost",
    )
    rows = [
        (
            f"{one.tasks} agents",
            str(one.slots),
            _time(one.ideal_s),
            _time(one.seconds),
            f"{one.seconds / one.ideal_s:.2f} x",
            _time(one.noticed_median_s),
            _time(one.noticed_most_s),
            str(one.lost),
        )
        for one in results.makespans
    ]
    lines = [_table(heads, rows)] if rows else []
    if results.simulated:
        sim = results.simulated
        lines.append(
            f"{sim.tasks:,} tasks on {sim.slots} slots in virtual time: slots used {sim.use:.1%}, "
            f"{sim.seconds:.1f} s, {sim.memory_mb:.0f} MB."
        )
    if results.idle:
        lines.append(
            f"The orchestrator with {results.idle.agents} agents at work: {results.idle.core_share:.1%} of a core."
        )
    return "\n\n".join(lines)


def _remote(results: Results) -> str:
    found = results.remote
    if not found:
        return ""
    hosts = f"{found.hosts} hosts x {found.agents} agents"
    heads = ("machines by ssh", "near", f"{found.latency_s * 1000:g} ms away")
    rows = [
        ("bare `ssh HOST true`, shared connection", _time(found.bare_ssh_s), _NONE),
        ("a second command of ours", _time(found.second_command_s), _NONE),
        (f"`list`, one host x {found.agents} agents", _time(found.list_one_s), _time(found.late_list_one_s)),
        (f"`list`, {hosts}", _time(found.list_all_s), _time(found.late_list_all_s)),
        ("an agent's end is noticed after, at the most", _time(found.noticed_s), _NONE),
    ]
    return _table(heads, rows)


def _sandboxes(results: Results) -> str:
    if not results.sandboxes:
        return ""
    late = f"{results.sandboxes[0].latency_s * 1000:g} ms per call"
    heads = (
        f"`list` at a loopback Modal, {late}",
        "seen",
        "calls",
        "time",
        "CPU",
        "of that, loading the SDK",
        "descriptors",
        "calls of `exec NAME`",
    )
    rows = [
        (
            f"{one.hosts} sandboxes",
            str(one.seen),
            str(one.calls),
            _time(one.seconds),
            _time(one.cpu_s),
            f"{_time(one.loading_s)}, {_time(one.loading_cpu_s)} of CPU",
            str(one.descriptors),
            str(one.exec_calls),
        )
        for one in results.sandboxes
    ]
    return _table(heads, rows)


def _integrated(results: Results) -> str:
    heads = ("integrating", "time", "a branch", "git processes", "fixes", "set aside")
    rows = [
        (
            f"{one.branches} branches",
            _time(one.seconds),
            _time(one.seconds / one.branches),
            str(one.processes),
            str(one.fixes),
            str(one.conflicts),
        )
        for one in results.integrated
    ]
    return _table(heads, rows) if rows else ""


def _indexed(results: Results) -> str:
    heads = ("the index of past runs", "size", "made in", "a run added in", "longest answer")
    one = results.indexed
    if one is None:
        return ""
    times = (_time(one.built_s), _time(one.added_s), _time(one.answer_s))
    return _table(
        heads, [(f"{one.tests:,} tests x {one.runs:,} runs", f"{one.file_bytes / 1e6:.1f} MB", *times)]
    )


def _pages(results: Results) -> str:
    heads = (
        "the page of",
        "artifacts",
        "page",
        "ratio",
        "built in",
        "memory",
        "first paint",
        "list",
        "requests",
    )
    rows = [
        (
            f"{page.tests:,} tests",
            f"{page.raw_bytes / 1e6:.1f} MB",
            f"{page.file_bytes / 1e6:.1f} MB",
            f"{page.ratio:.2f} x",
            _time(page.build_s),
            f"{page.peak_kb / 1024:.0f} MB",
            f"{page.paint_ms:.0f} ms",
            f"{page.rows_ms:.0f} ms",
            str(page.requests),
        )
        for page in results.pages
    ]
    return _table(heads, rows) if rows else ""


def _verdicts(found: Sequence[Verdict]) -> str:
    rows = [(verdict.line, verdict.promise, verdict.found, _ANSWERS[verdict.met]) for verdict in found]
    return _table(("", "promise", "found", ""), rows)


def _notices(results: Results) -> str:
    return "\n".join(f"- {notice}" for notice in results.notices)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
