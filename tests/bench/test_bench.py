"""The benchmark: its tables say what was measured, and a run leaves nothing behind."""

import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from functools import partial
from pathlib import Path

import pytest
from bench.history import measure as measure_history
from bench.integrate import measure as measure_integration
from bench.plot import plots
from bench.results import (
    BARE,
    CREATE,
    FLOOR,
    HELP,
    OURS,
    PEER,
    START,
    Claudes,
    Idle,
    Indexed,
    Integrated,
    Machine,
    Makespan,
    Memory,
    Page,
    Remote,
    Results,
    Sandboxes,
    Simulated,
    Timing,
    create_row,
    list_row,
    stop_many_row,
    stop_row,
)
from bench.stage import processes_under
from bench.table import render
from bench.timing import Samples, Turn, take_turns
from bench.verdict import verdicts

from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]
MACHINE = Machine("2026-01-31", 2, 8, ("Linux 6.1", "tmux 3.3a"))


def times(ours: dict[str, float], *, floor: dict[str, float], peer: dict[str, float]) -> Results:
    """Results with these seconds, and a bare start of 10 ms."""
    found: dict[str, dict[str, Timing]] = {START: {BARE: Timing((0.010,))}}
    for contender, rows in ((OURS, ours), (FLOOR, floor), (PEER, peer)):
        for row, seconds in rows.items():
            found.setdefault(row, {})[contender] = Timing((seconds, seconds * 3, seconds * 2))
    return Results(MACHINE, found)


def answers(results: Results) -> dict[str, tuple[str, bool | None]]:
    return {verdict.promise: (verdict.found, verdict.met) for verdict in verdicts(results)}


def test_a_row_shows_medians_best_times_and_ratios() -> None:
    text = render(times({CREATE: 0.05}, floor={CREATE: 0.01}, peer={CREATE: 1.0}))
    assert (
        "| create | 100.0 ms (50.0 ms) | 20.0 ms (10.0 ms) | 2.00 s (1.00 s) | 10.0 x | 5.0 x | 20.0 x |"
        in text
    )
    assert "2026-01-31" in text
    assert "2 cores, 8 GB, Linux 6.1, tmux 3.3a" in text


def test_what_was_not_measured_is_a_dash_and_no_verdict() -> None:
    results = times({HELP: 0.01}, floor={}, peer={})
    assert "| --help | 20.0 ms (10.0 ms) | - | - | 2.0 x | - | - |" in render(results)
    assert answers(results)["`create` ≥ 10 x faster than the peer"] == ("not measured", None)


@pytest.mark.accept("S1", "S2", "S3", "S4")
def test_a_missed_line_is_called_missed() -> None:
    ours = {HELP: 0.031, CREATE: 0.06, list_row(10): 0.039, list_row(1000): 0.12}
    results = times(ours, floor={CREATE: 0.0095}, peer={CREATE: 0.5, list_row(10): 0.4})
    found = answers(results)
    assert found["`--help` ≤ 6 x a bare interpreter start"] == ("6.2 x", False)
    assert found["`list, 10 agents` ≤ 8 x a bare interpreter start"] == ("7.8 x", True)
    assert found["`create` ≥ 10 x faster than the peer"] == ("8.3 x", False)
    assert found["`list, 10 agents` ≥ 10 x faster than the peer"] == ("10.3 x", True)
    assert found["`create` ≤ its floor + 10 bare interpreter starts"] == ("floor + 10.1 starts", False)
    assert found["`list` of 1,000 ≤ 3 x `list` of 10"] == ("3.1 x", False)
    assert "| S1 | `--help` ≤ 6 x a bare interpreter start | 6.2 x | **missed** |" in render(results)


def test_stopping_and_many_agents_at_once_are_judged_by_what_they_cost_without_us() -> None:
    bash = stop_row("bash --norc -i")
    floor = {
        CREATE: 0.01,
        bash: 0.005,
        stop_row("claude"): 0.8,
        stop_many_row(100): 0.1,
        create_row(1000): 50.0,
    }
    good = {
        CREATE: 0.044,
        bash: 0.2,
        stop_row("claude"): 1.1,
        stop_many_row(100): 0.29,
        create_row(1000): 59.0,
    }
    bad = {
        CREATE: 0.046,
        bash: 10.1,
        stop_row("claude"): 2.0,
        stop_many_row(100): 0.31,
        create_row(1000): 61.0,
    }
    promises = (
        "`create` ≤ its floor + 7 bare interpreter starts",
        "`stop of bash --norc -i` ≤ 1 s longer than it takes by itself",
        "`stop of claude` ≤ 1 s longer than it takes by itself",
        "`stop 100 at once` ≤ 3 x its floor",
        "1,000 through `create -` ≤ 1.2 x the floor per agent",
    )
    for ours, met in ((good, True), (bad, False)):
        results = times(ours, floor=floor, peer={})
        assert [answers(results)[promise][1] for promise in promises] == [met] * len(promises)
        assert "| stop of bash --norc -i | " in render(results)
    assert (
        answers(times(good, floor={}, peer={}))["`stop of codex` ≤ 1 s longer than it takes by itself"][1]
        is None
    )


@pytest.mark.accept("S7")
def test_integrating_is_judged_by_what_a_branch_costs() -> None:
    few = Integrated(10, 1.0, 180)
    for seconds, processes, met in ((12.0, 1800, True), (40.0, 9000, False)):
        results = Results(MACHINE, {}, integrated=(few, Integrated(100, seconds, processes)))
        judged = [verdict.met for verdict in verdicts(results) if verdict.line == "S7"]
        assert judged == [met, met, None, None]
    assert "| 10 branches | 1.00 s | 100.0 ms | 180 |" in render(Results(MACHINE, {}, integrated=(few,)))


@pytest.mark.accept("O17")
def test_redaction_is_judged_by_its_speed() -> None:
    for speed, met in ((62.0, True), (12.0, False), (None, None)):
        found = [one.met for one in verdicts(Results(MACHINE, {}, redaction=speed)) if one.line == "O17"]
        assert found == [met]


@pytest.mark.accept("S6")
def test_machines_by_ssh_are_judged_by_ratios_and_by_how_soon_an_end_is_noticed() -> None:
    good = Remote(10, 10, 0.2, 0.010, 0.029, 0.2, 0.7, 0.6, 1.1, 1.9)
    bad = Remote(10, 10, 0.2, 0.010, 0.031, 0.2, 0.9, 0.6, 1.3, 2.1)
    for remote, met in ((good, True), (bad, False)):
        results = Results(MACHINE, {}, remote=remote)
        judged = [
            verdict.met
            for verdict in verdicts(results)
            if "ssh" in verdict.promise or "hosts" in verdict.promise
        ]
        assert judged == [met] * 4
        assert "10 hosts x 10 agents" in render(results)


def test_many_sandboxes_are_judged_without_the_loading_of_the_sdk() -> None:
    good = Sandboxes(200, 0.06, 200, 607, 2.2, 1.7, 0.8, 0.8, 210, 15)
    bad = Sandboxes(200, 0.06, 199, 1600, 2.4, 1.9, 0.8, 0.8, 1400, 800)
    for found, met in ((good, True), (bad, False)):
        results = Results(MACHINE, {}, sandboxes=(found,))
        assert [one.met for one in verdicts(results) if one.line == "E1"] == [met] * 6
        assert "200 sandboxes" in render(results)
    assert [one.met for one in verdicts(Results(MACHINE, {})) if one.line == "E1"] == [None] * 6


@pytest.mark.accept("K14")
def test_real_coding_agents_are_judged_beside_plain_commands() -> None:
    good, bad = Claudes(20, 0.070, 0.080, 0.5, 0.4), Claudes(20, 0.070, 0.090, 1.5, 1.4)
    for claudes, met in ((good, True), (bad, False)):
        results = Results(MACHINE, {}, claudes=claudes)
        assert [one.met for one in verdicts(results) if "Claude Code" in one.promise] == [met] * 3
        assert "with 20 living Claude Codes" in render(results)
    assert [one.met for one in verdicts(Results(MACHINE, {})) if "Claude Code" in one.promise] == [None] * 3


@pytest.mark.accept("S6", "S7")
def test_a_run_of_many_agents_is_judged_by_its_makespan_and_its_scheduler_by_its_slots() -> None:
    good = Results(
        MACHINE,
        {},
        makespans=(Makespan(200, 20, 400.0, 430.0, 0.4, 0.9), Makespan(12, 4, 30.0, 60.0, 0.4, 3.0)),
        simulated=Simulated(10_000, 100, 0.966, 19.0, 46.0),
        idle=Idle(20, 0.016),
    )
    bad = Results(
        MACHINE,
        {},
        makespans=(Makespan(200, 20, 400.0, 450.0, 0.4, 1.2),),
        simulated=Simulated(10_000, 100, 0.94, 19.0, 600.0),
        idle=Idle(20, 0.03),
    )
    for results, met in ((good, True), (bad, False)):
        judged = [verdict.met for verdict in verdicts(results) if verdict.line in ("S6", "C")]
        assert judged == [met, met, met]
        assert [one.met for one in verdicts(results) if one.line == "S7"] == [None, None, met, met]
    assert "| 200 agents | 20 | 400.00 s | 430.00 s | 1.07 x |" in render(good)


@pytest.mark.accept("S2", "S6", "S7", "S8")
def test_pictures_show_what_was_measured_and_nothing_else() -> None:
    assert plots(Results(MACHINE, {})) == {}
    fast = times({CREATE: 0.1, HELP: 0.02}, floor={}, peer={CREATE: 1.2, HELP: 1.0})
    grown = Results(
        MACHINE,
        fast.times,
        makespans=(Makespan(200, 20, 400.0, 430.0, 0.4, 0.9),),
        integrated=(Integrated(10, 1.0, 180), Integrated(100, 12.0, 1800)),
        pages=(Page(1000, 180_000_000, 64_800_000, 21, 35_840, 300, 1300, 0),),
    )
    drawn = plots(grown)
    assert list(plots(fast)) == ["speed.svg"]
    said = {name: "".join(ElementTree.fromstring(text).itertext()) for name, text in drawn.items()}
    assert "create" in said["speed.svg"]
    assert "12 x" in said["speed.svg"]
    for part in ("makespan 1.07 x", "1.20 x a branch among 10, at most 1.5", "first paint 300 ms"):
        assert part in said["scale.svg"]


@pytest.mark.slow
@pytest.mark.accept("S7")
def test_a_branch_of_many_starts_no_more_processes_than_one_of_few(tmp_path: Path) -> None:
    few, many = measure_integration(str(tmp_path), (10, 30))
    assert many.processes <= 3.6 * few.processes


@pytest.mark.accept("S8")
def test_the_page_of_a_thousand_tests_is_judged_and_smaller_ones_are_not() -> None:
    small = Page(10, 1_000_000, 600_000, 0.5, 34_000, 90, 200, 0)
    large = Page(1000, 180_000_000, 64_800_000, 21, 35_840, 1100, 1300, 2)
    assert answers(Results(MACHINE, {}, pages=(small,)))["the page of 1,000 tests ≤ 0.4 x its artifacts"] == (
        "not measured",
        None,
    )
    results = Results(MACHINE, {}, pages=(small, large))
    found = answers(results)
    assert found["the page of 1,000 tests ≤ 0.4 x its artifacts"] == ("0.36 x", True)
    assert found["the page of 1,000 tests is painted within 1 s"] == ("1.10 s", False)
    assert found["the page of 1,000 tests asks nobody for anything"] == ("2 requests", False)
    row = "| 1,000 tests | 180.0 MB | 64.8 MB | 0.36 x | 21.00 s | 35 MB | 1100 ms | 1300 ms | 2 |"
    assert row in render(results)


@pytest.mark.accept("O14")
def test_the_index_of_past_runs_is_measured_and_judged_by_its_size_and_its_longest_answer(
    tmp_path: Path,
) -> None:
    small = measure_history(str(tmp_path), 20, 3)
    assert 0 < small.file_bytes < 200_000
    assert os.listdir(tmp_path) == []
    what = "the index of 1,000 tests x 500 runs"
    assert answers(Results(MACHINE, {}, indexed=small))[f"{what} ≤ 50 MB"] == ("not measured", None)
    results = Results(MACHINE, {}, indexed=Indexed(1000, 500, 21_500_000, 12.0, 0.1, 1.2))
    assert answers(results)[f"{what} ≤ 50 MB"] == ("21.5 MB", True)
    assert answers(results)[f"{what} answers within 1 s"] == ("1.20 s", False)
    assert "| 1,000 tests x 500 runs | 21.5 MB | 12.00 s | 100.0 ms | 1.20 s |" in render(results)


@pytest.mark.accept("S4", "S5")
def test_processes_and_memory_are_judged() -> None:
    memory = Memory(processes_per_agent=0, server_per_agent=12, recorder_rss=2500, index_rss=6144)
    found = answers(Results(MACHINE, {}, processes={10: 10, 1000: 10}, memory=memory))
    assert found["`list` starts as many processes for 1,000 agents as for 10"] == ("10 and 10", True)
    assert found["no process of ours per idle agent"] == ("0", True)
    assert found["recording ≤ 2 MB resident each"] == ("2.4 MB", False)
    assert found["recording ≤ 8 MB resident per host for its index"] == ("6.0 MB", True)


def test_turns_are_interleaved_in_changing_order_and_the_warm_up_does_not_count() -> None:
    seen: list[str] = []

    def act(name: str, rep: int) -> float:
        seen.append(f"{name}{rep}")
        return float(rep)

    samples = Samples()
    first = [Turn("row", name, partial(act, name)) for name in "abcd"]
    take_turns(samples, [first, [Turn("", "e", partial(act, "e"))]], 2)
    rounds = [seen[at : at + 5] for at in (0, 5, 10)]
    for rep, taken in enumerate(rounds):
        assert sorted(taken) == [f"{name}{rep}" for name in "abcde"]
        assert taken[-1] == f"e{rep}"
    assert len({tuple(turn[0] for turn in taken) for taken in rounds}) > 1
    assert samples.timings() == {"row": {name: Timing((1.0, 2.0)) for name in "abcd"}}


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Short, because sockets are made below it."""
    return tmp_path_factory.mktemp("b")


def start(folder: Path, *words: str) -> "subprocess.Popen[str]":
    """The benchmark, with a temp directory by which all that it starts is found."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / "bench" / "run.py"), "--quick", "--no-peer", "--reps", "1", *words],
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_a_quick_run_measures_writes_and_leaves_nothing(folder: Path) -> None:
    out = folder / "RESULTS.md"
    said, complaints = (child := start(folder, "--out", str(out))).communicate(timeout=1200)
    assert child.returncode == 0, complaints
    text = out.read_text()
    assert text.strip() == said.strip()
    rows = ("create", "exec", "message", "stop", "stop of sh -i", "destroy", "list, 10 agents")
    for row in (*rows, "destroy 20 at once", "stop 40 at once", "destroy 40 at once"):
        assert f"| {row} | " in text
    assert "| S5 | no process of ours per idle agent | 0 | met |" in text
    assert str(folder) not in text
    assert str(ROOT) not in text
    assert wait_until(lambda: not processes_under(str(folder)), PATIENCE_S)
    assert os.listdir(folder) == ["RESULTS.md"]


@pytest.mark.slow
def test_an_interrupted_run_leaves_nothing(folder: Path) -> None:
    child = start(folder)
    assert wait_until(lambda: len(processes_under(str(folder))) > 5, PATIENCE_S)
    child.send_signal(signal.SIGINT)
    _, complaints = child.communicate(timeout=600)
    assert child.returncode == 130, complaints
    assert wait_until(lambda: not processes_under(str(folder)), PATIENCE_S)
    assert not os.listdir(folder)
