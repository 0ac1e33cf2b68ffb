"""One attempt as the page shows it."""

import json
from pathlib import Path

import msgspec
import pytest
from tests.e2e_kit.view.desk import T0, RunDesk, record, write_cast, write_records

from mngr_e2e.recorder.writer import note_start
from mngr_e2e.session.artifacts import Meta, write_meta
from mngr_e2e.view.detail import load_detail, load_recordings
from mngr_view.chunks import encode
from mngr_view.records import Detail, ScreenText, Seek

A = "tests/test_a.py::test_one"


@pytest.fixture
def run(tmp_path: Path) -> RunDesk:
    return RunDesk(tmp_path)


@pytest.fixture
def attempt(run: RunDesk) -> Path:
    return run.attempt(A, "failed")


def load(run: RunDesk) -> Detail:
    found = run.only()
    return load_detail(found, list(load_recordings(found)))


@pytest.mark.accept("V1", "V2", "F17", "Y4")
def test_everything_of_an_attempt_is_there(run: RunDesk, attempt: Path) -> None:
    meta = Meta(A, "run-1", 1, "failed", T0, 10.0, blocks=("# why\necho 1",))
    write_meta(str(attempt), meta)
    write_records(attempt, record("echo 1", T0, (0.0, "1\n")))
    write_cast(attempt, "1-shell.cast", T0, (0.5, "hello"), (2.5, "bye"))
    (attempt / "failure.txt").write_text("E   it broke\n")
    (attempt / "screens").mkdir()
    (attempt / "screens" / "1-shell-2-end.txt").write_text("\x1b[1mend\x1b[0m\n")
    (attempt / "screens" / "1-shell-1.txt").write_text("begin\n")
    (attempt / "own").mkdir()
    (attempt / "own" / "data.csv").write_text("1")
    found = load(run)
    assert [one.command for one in found.commands] == ["echo 1"]
    assert found.citations == ("# why\necho 1",)
    assert found.failure == "E   it broke"
    (cast,) = found.casts
    assert (cast.title, cast.start, cast.duration_s, cast.cols, cast.rows) == ("shell", T0, 2.5, 90, 20)
    assert found.screens == (
        ScreenText("1-shell-1", "begin"),
        ScreenText("1-shell-2-end", "\x1b[1mend\x1b[0m"),
    )
    assert found.files == ("own/data.csv",)
    assert found.notes == ()


@pytest.mark.accept("V6")
def test_a_command_leads_to_its_second_in_every_recording_that_ran(run: RunDesk, attempt: Path) -> None:
    write_records(
        attempt,
        record("before", T0 + 1, duration=0.5),
        record("mngr create foo", T0 + 2, duration=3),
        record("mngr message foo hi", T0 + 6.25),
        record("later", T0 + 9),
    )
    foo = write_cast(attempt, "1-foo.cast", T0 + 4, (0.5, "hello"), (4.0, "bye"))
    note_start(str(foo), T0 + 4.125, (90, 20), "foo", "tmux attach")
    write_cast(attempt, "2-old.cast", T0 + 6, (0.5, "no exact start"))
    assert [one.seeks for one in load(run).commands] == [
        (),
        (Seek(0, 0.0),),
        (Seek(0, 2.125), Seek(1, 0.25)),
        (Seek(0, 4.0), Seek(1, 0.5)),
    ]


@pytest.mark.accept("V6")
def test_what_happens_on_a_terminal_leads_into_its_own_recording(run: RunDesk, attempt: Path) -> None:
    replace = msgspec.structs.replace
    started = replace(record("notes watch", T0 + 2, duration=0.0), exit_code=None, terminal="2-notes")
    pressed = replace(record("[2-notes] keys Down", T0 + 4), terminal="2-notes")
    write_records(attempt, started, pressed)
    for name, start in (("1-other.cast", T0 + 1), ("2-notes.cast", T0 + 3)):
        write_cast(attempt, name, start, (0.5, "hello"), (6.0, "bye"))
    found = load(run).commands
    assert [one.seeks for one in found] == [(Seek(1, 0.0),), (Seek(1, 1.0),)]
    assert [one.terminal for one in found] == ["2-notes", "2-notes"]


@pytest.mark.accept("V6")
def test_a_recording_that_had_ended_is_no_place_to_go(run: RunDesk, attempt: Path) -> None:
    write_records(attempt, record("during", T0 + 2), record("after", T0 + 8))
    (attempt / "casts").mkdir()
    header = {"version": 3, "term": {"cols": 80, "rows": 24}, "timestamp": T0 + 1}
    lines = [header, [1.0, "o", "x"], [2.0, "o", "y"], [0.5, "x", "0"]]
    (attempt / "casts" / "1-a.cast").write_text("\n".join(map(json.dumps, lines)) + "\n")
    write_cast(attempt, "2-b.cast", T0 + 1, (1.0, "x"), (4.0, ""))
    write_cast(attempt, "3-c.cast", T0 + 1, (1.0, "x"), (4.0, "it may go on"))
    assert [one.seeks for one in load(run).commands] == [
        (Seek(0, 1.0), Seek(1, 1.0), Seek(2, 1.0)),
        (Seek(2, 4.0),),
    ]


@pytest.mark.accept("V4", "Q5")
def test_what_leads_outside_is_named_and_not_read(run: RunDesk, attempt: Path, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    canary.write_text('{"version": 2, "width": 1, "height": 1}\n[0, "o", "canary"]\n')
    (attempt / "casts").mkdir()
    (attempt / "casts" / "1-a.cast").symlink_to(canary)
    (attempt / "screens").symlink_to(tmp_path)
    (attempt / "failure.txt").symlink_to(canary)
    (attempt / "notes").symlink_to(tmp_path)
    (attempt / "casts" / "index.jsonl").write_text('{"file": "../../../canary", "start": 1}\n')
    found = load(run)
    assert b'"canary' not in encode(found).replace(b"canary.cast", b"")
    assert (found.casts, found.screens, found.failure) == ((), (), "")
    assert found.files == ("notes (link)",)
    assert found.notes == ("1-a.cast is a link and was not opened",)


@pytest.mark.accept("V2", "F15")
def test_a_recording_that_failed_says_why(run: RunDesk, attempt: Path) -> None:
    write_cast(attempt, "1-foo.cast", T0)
    (attempt / "casts" / "1-foo.cast.error").write_text("asciinema ended with code 1\n")
    (attempt / "casts" / "2-bar.cast.error").write_text("no tmux\n")
    found = load(run)
    assert found.casts[0].problem == "nothing was recorded; asciinema ended with code 1"
    assert found.notes == ("recording 2-bar.cast failed: no tmux",)


@pytest.mark.accept("Q5")
def test_floods_of_files_are_counted_and_not_shown(run: RunDesk, attempt: Path) -> None:
    (attempt / "screens").mkdir()
    for number in range(250):
        (attempt / f"file-{number}").touch()
        (attempt / "screens" / f"{number}.txt").write_text("x")
    for number in range(45):
        write_cast(attempt, f"{number}-a.cast", T0, (0.1, "x"))
    (attempt / "failure.txt").write_text("x" * 300_000)
    found = load(run)
    assert [len(found.casts), len(found.screens), len(found.files)] == [40, 200, 200]
    assert len(found.failure) == 256_000
    assert set(found.notes) == {
        "50 more screens are in the folder",
        "45 recordings: the first 40 are shown",
        "50 more files are in the folder",
        "the failure's text is cut: 300.0 KB",
    }


@pytest.mark.accept("V4", "Q7")
def test_hostile_names_of_recordings_are_text(run: RunDesk, attempt: Path) -> None:
    name = '1-<img src=x onerror="1">\n\udcff.cast'
    write_cast(attempt, name, T0, (0.1, "x"))
    (attempt / "<script>\x1b[2J").touch()
    found = load(run)
    encode(found)
    (cast,) = found.casts
    assert set(cast.chunk) <= set("abcdef0123456789/cast")
    assert found.files == ("<script>\\x1b[2J",)


def test_a_detail_without_a_folder_is_an_empty_one(run: RunDesk, attempt: Path) -> None:
    found = run.only()
    gone = msgspec.structs.replace(found, names=("gone", "attempt-1"))
    assert load_detail(gone, list(load_recordings(gone))) == Detail(())
