"""Commands from transcripts, whole or not."""

import base64
import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.e2e_kit.view.desk import T0, record, write_records

from mngr_e2e import E2eSession
from mngr_e2e.session.artifacts import claim_attempt
from mngr_e2e.session.transcript import CommandRecord, Piece
from mngr_e2e.view.commands import OUTPUT_LIMIT, Commands, load_commands
from mngr_view.chunks import encode
from mngr_view.records import Output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "attempt").mkdir()
    return tmp_path / "attempt"


def load(folder: Path) -> Commands:
    return load_commands(str(folder.parent), (folder.name,), T0)


def shown(found: Commands) -> list[tuple[str, str, int | None]]:
    return [
        (one.command, "".join(piece.text for piece in one.output), one.exit_code) for one in found.commands
    ]


@pytest.mark.accept("V1", "F17")
def test_what_a_session_ran_is_what_is_shown(tmp_path: Path) -> None:
    session = E2eSession(claim_attempt(str(tmp_path / "runs"), "run", "tests/test_a.py::test_b"))
    try:
        session.run("printf 'a\\n'; sleep 0.2; printf 'b\\n' >&2; exit 3", comment="two\nlines")
        session.run("printf '\\303'; sleep 0.2; printf '\\251\\377'")
        session.run("echo never; sleep 60", timeout_s=1)
    finally:
        session.finish("failed")
    found = load(session.artifacts)
    first, second, third = found.commands
    assert (first.comment, first.exit_code, first.cwd) == ("two\nlines", 3, str(session.cwd))
    assert [(piece.stream, piece.text) for piece in first.output] == [("stdout", "a\n"), ("stderr", "b\n")]
    assert first.output[1].at - first.output[0].at > 0.1
    assert "".join(piece.text for piece in second.output) == "é\ufffd"
    assert (third.exit_code, third.is_timed_out, third.output[0].text) == (124, True, "never\n")
    assert third.start > first.start > T0 - 1e9
    assert found.notes == ()


def test_pieces_that_came_together_are_one(folder: Path) -> None:
    write_records(folder, record("x", T0, (0.1, "a"), (0.11, "b"), (0.12, "c"), (2.0, "d")))
    assert load(folder).commands[0].output == (Output("stdout", 0.1, "abc"), Output("stdout", 2.0, "d"))


@pytest.mark.accept("V2", "Q5")
def test_a_damaged_line_is_taken_from_the_text(folder: Path) -> None:
    write_records(folder, *(record(f"echo {n}", T0 + n, (0.0, f"{n}\n")) for n in range(3)))
    lines = (folder / "transcript.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "transcript.jsonl").write_bytes(lines[0] + b'{"start": \xff\n' + lines[2])
    found = load(folder)
    assert shown(found) == [("echo 0", "0\n", 0), ("echo 1", "1\n", 0), ("echo 2", "2\n", 0)]
    assert found.commands[1].start == T0 + 1.0
    assert any("times" in note for note in found.notes)


@pytest.mark.accept("V2")
def test_without_json_lines_the_text_alone_is_shown(folder: Path) -> None:
    (folder / "transcript.txt").write_text(
        "# why\n# really\n$ cat <<x\n> a\n> x\n  $ not a command\n! oops\n  no end\n\\ no newline\n? 1\n"
        "\n$ sleep 9\n? 124 timed out after 5 s\n"
    )
    first, second = load(folder).commands
    assert (first.command, first.comment) == ("cat <<x\na\nx", "why\nreally")
    assert [(piece.stream, piece.text) for piece in first.output] == [
        ("stdout", "$ not a command\n"),
        ("stderr", "oops\n"),
        ("stdout", "no end"),
    ]
    assert (first.exit_code, first.is_timed_out) == (1, False)
    assert (second.exit_code, second.is_timed_out) == (124, True)


@pytest.mark.accept("V7", "F7")
def test_a_command_that_still_runs_is_shown_without_an_end(folder: Path) -> None:
    write_records(folder, record("echo 0", T0, (0.0, "0\n")))
    with (folder / "transcript.txt").open("a") as file:
        file.write("\n$ sleep 60\n  so far\n")
    found = load(folder)
    assert shown(found) == [("echo 0", "0\n", 0), ("sleep 60", "so far\n", None)]
    assert found.commands[1].start == T0 + 1.0
    assert found.notes == ()


@pytest.mark.accept("Q5")
def test_a_flood_is_cut_in_its_middle_and_says_so(folder: Path) -> None:
    lines = [f"{number:09}\n" for number in range(300_000)]
    half = len(lines) // 2
    write_records(folder, record("yes", T0, (0.0, "".join(lines[:half])), (5.0, "".join(lines[half:]))))
    found = load(folder)
    ((_, text, _),) = shown(found)
    assert text.startswith(lines[0])
    assert text.endswith(lines[-1])
    assert OUTPUT_LIMIT < len(text) < OUTPUT_LIMIT + 100
    assert "[… 2,000,000 characters left out …]" in text
    assert found.notes == ("the output of command 1 is cut: 2,000,000 characters in its middle are left out",)


@pytest.mark.accept("Q5")
def test_pipes_links_and_bad_bytes_are_no_transcript(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "canary").write_text("$ canary\n  canary\n")
    (folder / "transcript.txt").symlink_to(tmp_path / "canary")
    os.mkfifo(folder / "transcript.jsonl")
    assert load(folder) == Commands(())
    bad = msgspec.structs.replace(record("x"), chunks=(Piece("stdout", 0.0, b64="A"), Piece("stderr", 0.0)))
    (folder / "transcript.jsonl").unlink()
    (folder / "transcript.jsonl").write_bytes(encode(bad) + b"\n")
    assert load(folder).commands[0].command == "x"


RECORDS = st.builds(
    CommandRecord,
    start=st.floats(allow_nan=False, allow_infinity=False),
    duration=st.floats(allow_nan=False, allow_infinity=False),
    cwd=st.text(),
    command=st.text(),
    comment=st.text(),
    exit_code=st.integers(-(2**62), 2**62) | st.none(),
    timed_out=st.booleans(),
    chunks=st.lists(
        st.builds(
            Piece,
            st.sampled_from(["stdout", "stderr"]),
            st.floats(0, 100),
            b64=st.binary().map(lambda data: base64.b64encode(data).decode()),
        )
    ).map(tuple),
)


@pytest.mark.accept("Q5", "Q7")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.binary() | RECORDS.map(encode)),
    st.lists(
        st.sampled_from(["$ a", "> b", "# c", "  d", "! e", "? 1", "? x", "\\ no newline", ""]) | st.text()
    ),
)
def test_any_transcript_can_be_shown(folder: Path, lines: list[bytes], text: list[str]) -> None:
    (folder / "transcript.jsonl").write_bytes(b"\n".join([*lines, b""]))
    (folder / "transcript.txt").write_bytes("\n".join(text).encode(errors="replace"))
    found = load(folder)
    encode(found)
    assert all(0 <= one.start < 1e11 and 0 <= one.duration_s < 1e9 for one in found.commands)
