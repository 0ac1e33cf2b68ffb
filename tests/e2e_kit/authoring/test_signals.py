"""Signals are kept, ranked and answered, and nothing of that loses a line."""

from pathlib import Path
from threading import Thread

import pytest

from mngr_e2e.authoring.rules import FILES, KNOWN_COMMAND, KNOWN_OPTION, RuleFinding
from mngr_e2e.authoring.signals import Resolved, Signal, append, group_id, load, rank, rejection, signals_of


def signal(at: float, what: str, command: str = "notes list") -> Signal:
    return Signal(at, "unknown option", command, what)


@pytest.mark.accept("A7")
def test_the_most_frequent_come_first_and_of_equals_the_latest() -> None:
    entries = [
        signal(1, "--a"),
        signal(2, "--b"),
        signal(3, "--c"),
        signal(4, "--b"),
        signal(5, "--a", "notes add"),
    ]
    assert [(group.command, group.what, group.count) for group in rank(entries)] == [
        ("notes list", "--b", 2),
        ("notes add", "--a", 1),
        ("notes list", "--c", 1),
        ("notes list", "--a", 1),
    ]
    assert [group.what for group in rank(entries, since=4)] == ["--a", "--b"]


@pytest.mark.accept("A7")
def test_only_what_is_about_the_interface_is_a_signal_and_once_a_run() -> None:
    findings = [
        RuleFinding(KNOWN_OPTION, "t:1", "no", "g1", "notes list", "--a"),
        RuleFinding(KNOWN_OPTION, "t:9", "no", "g2", "notes list", "--a"),
        RuleFinding(KNOWN_COMMAND, "t:1", "no", "g1", "notes", "tag"),
        RuleFinding(FILES, "file.txt", "no"),
    ]
    assert [(one.kind, one.what) for one in signals_of(findings, "t.sh", 1.0)] == [
        ("unknown option", "--a"),
        ("unknown command", "tag"),
    ]


@pytest.mark.accept("A7")
def test_a_resolved_signal_is_closed_until_it_comes_back() -> None:
    first = signal(1, "--a")
    closed: list[Signal | Resolved] = [first, Resolved(2, group_id(first), "added the option")]
    assert [(group.resolved, group.count) for group in rank(closed)] == [("added the option", 1)]
    again = rank([*closed, signal(3, "--a")])
    assert [(group.resolved, group.count) for group in again] == [(None, 1), ("added the option", 1)]


@pytest.mark.accept("A7")
def test_lines_are_only_added_and_broken_ones_passed_over(tmp_path: Path) -> None:
    path = tmp_path / ".mngr/tutorial/signals.jsonl"
    append(str(path), [signal(1, "--a")])
    first = path.read_bytes()
    path.write_bytes(first + b"<<<<<<< ours\n")
    append(str(path), [rejection("notes add", "too long", "t.sh", "notes add x"), Resolved(9, "s1")])
    assert path.read_bytes().startswith(first)
    assert [type(entry).__name__ for entry in load(str(path))] == ["Signal", "Signal", "Resolved"]
    assert (path.parent / ".gitattributes").read_text() == "signals.jsonl merge=union\n"
    assert load(str(tmp_path / "none")) == ()


def test_writers_at_the_same_time_do_not_mix_lines(tmp_path: Path) -> None:
    path = str(tmp_path / "signals.jsonl")
    writers = [Thread(target=append, args=(path, [signal(1, "x" * 9000)] * 3)) for _ in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(load(path)) == 24
