"""The text form is readable as it grows and says no more and no less than what happened."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mngr_e2e import E2eSession
from mngr_e2e.session.runner import Chunk, Ended
from mngr_e2e.session.transcript import Entry, Record, TextWriter, parse_transcript, piece, read_records

chunks = st.lists(
    st.builds(Chunk, st.sampled_from(["stdout", "stderr"]), st.just(0.0), st.binary(min_size=1, max_size=20)),
    max_size=8,
)
words = st.text(st.characters(codec="utf-8"), max_size=20)
commands = st.tuples(words, words, chunks, st.integers(0, 255))


@pytest.mark.accept("F5", "F6")
def test_a_command_reads_as_in_the_format(session: E2eSession) -> None:
    session.run("echo one\necho two >&2; exit 3", comment="first\nsecond")
    session.run("printf '# no\\n$ markup\\n? 0'")
    assert (session.artifacts / "transcript.txt").read_text() == (
        "# first\n# second\n$ echo one\n> echo two >&2; exit 3\n  one\n! two\n? 3\n"
        "\n$ printf '# no\\n$ markup\\n? 0'\n  # no\n  $ markup\n  ? 0\n\\ no newline\n? 0\n"
    )


@pytest.mark.accept("F6")
def test_lines_stand_in_the_order_they_came(session: E2eSession) -> None:
    session.run("for i in 1 2 3; do echo out $i; sleep 0.1; echo err $i >&2; sleep 0.1; done")
    lines = (session.artifacts / "transcript.txt").read_text().splitlines()[1:-1]
    assert lines == ["  out 1", "! err 1", "  out 2", "! err 2", "  out 3", "! err 3"]


@pytest.mark.accept("F6")
@given(st.lists(commands, max_size=4))
@settings(max_examples=60, deadline=None)
def test_what_was_written_is_read_back(run: list[tuple[str, str, list[Chunk], int]]) -> None:
    with tempfile.TemporaryFile() as file:
        wanted = []
        for command, comment, heard, code in run:
            writer = TextWriter(file)
            writer.begin(command, comment)
            for chunk in heard:
                writer.hear(chunk)
            writer.end(Ended(code, 0.0), 60)
            wanted.append(Entry(command, comment, _text(heard, "stdout"), _text(heard, "stderr"), code))
        file.seek(0)
        assert parse_transcript(file.read().decode()) == wanted


@given(chunks)
def test_a_record_keeps_every_byte(heard: list[Chunk]) -> None:
    assert [piece(chunk).data for chunk in heard] == [chunk.data for chunk in heard]


@pytest.mark.accept("F6", "F8")
def test_the_json_form_has_times_and_bytes(session: E2eSession) -> None:
    session.run("printf 'a\\377b'; sleep 0.2; echo late >&2", comment="why")
    (record,) = read_records(str(session.artifacts / "transcript.jsonl"))
    assert (record.command, record.comment) == ("printf 'a\\377b'; sleep 0.2; echo late >&2", "why")
    assert [part.data for part in record.chunks] == [b"a\xffb", b"late\n"]
    assert record.chunks[1].at - record.chunks[0].at > 0.1
    assert record.duration >= 0.2
    assert record.cwd == str(session.cwd)
    assert record.exit_code == 0


@pytest.mark.accept("F7", "F8")
def test_a_timeout_is_written_with_what_came_before(session: E2eSession) -> None:
    result = session.run("printf partial; sleep 60", timeout_s=0.3)
    assert (result.exit_code, result.stdout, result.timed_out) == (124, "partial", True)
    text = (session.artifacts / "transcript.txt").read_text()
    assert text.endswith("  partial\n\\ no newline\n? 124 timed out after 0.3 s\n")
    assert parse_transcript(text)[0].exit_code == 124


def test_a_line_cut_by_a_crash_is_left_out(tmp_path: Path, session: E2eSession) -> None:
    session.run("echo hi")
    whole = (session.artifacts / "transcript.jsonl").read_bytes()
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(whole + whole[:20])
    records: list[Record] = read_records(str(cut))
    assert [record.command for record in records] == ["echo hi"]


def test_a_text_that_broke_off_has_no_exit_code() -> None:
    assert parse_transcript("# c\n$ sleep 9\n  so far\n") == [Entry("sleep 9", "c", "so far\n")]


def _text(heard: list[Chunk], stream: str) -> str:
    return b"".join(chunk.data for chunk in heard if chunk.stream == stream).decode(errors="replace")
