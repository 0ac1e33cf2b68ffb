"""The text form is readable as it grows and says no more and no less than what happened."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mngr_e2e import E2eSession
from mngr_e2e.session.artifacts import claim_attempt
from mngr_e2e.session.kept import Kept
from mngr_e2e.session.runner import Chunk, JobEnd
from mngr_e2e.session.transcript import (
    CommandRecord,
    TextWriter,
    TranscriptEntry,
    parse_transcript,
    piece,
    read_records,
)

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
            kept = Kept(1000, writer.hear)
            for chunk in heard:
                kept.hear(chunk)
            writer.hear_rest(kept)
            writer.end(JobEnd(code, 0.0), 60)
            wanted.append(
                TranscriptEntry(command, comment, _text(heard, "stdout"), _text(heard, "stderr"), code)
            )
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


@pytest.mark.accept("Q5")
def test_of_a_flood_the_beginning_and_the_end_are_kept_and_the_rest_is_counted(tmp_path: Path) -> None:
    session = E2eSession(claim_attempt(str(tmp_path), "run", "a::b"), output_mb=0.001)
    try:
        result = session.run("seq 100000; echo all is well; printf %02000d 7 >&2; exit 3", timeout_s=60)
    finally:
        session.finish("passed")
    assert result.exit_code == 3
    assert result.stdout_left_out == len("".join(f"{n}\n" for n in range(1, 100001)) + "all is well\n") - 1000
    assert result.stderr_left_out == 1000
    assert result.stdout.startswith("1\n2\n")
    assert f"\n… {result.stdout_left_out} bytes left out …\n" in result.stdout
    assert result.stdout.endswith("\n100000\nall is well\n")
    text = (session.artifacts / "transcript.txt").read_text()
    assert f"\n\\ {result.stdout_left_out} bytes of stdout left out\n" in text
    assert len(text) < 4000
    (entry,) = parse_transcript(text)
    (record,) = read_records(str(session.artifacts / "transcript.jsonl"))
    assert (record.stdout_left_out, record.stderr_left_out) == (result.stdout_left_out, 1000)
    kept = b"".join(part.data for part in record.chunks if part.stream == "stdout")
    assert entry.stdout.encode() == kept
    assert len(kept) == 1000


@given(chunks, st.integers(2, 40))
def test_what_is_kept_are_the_first_and_the_last_bytes(heard: list[Chunk], limit: int) -> None:
    told: list[Chunk] = []
    kept = Kept(limit, told.append)
    for chunk in heard:
        kept.hear(chunk)
    for name, stream in kept.streams.items():
        whole = b"".join(chunk.data for chunk in heard if chunk.stream == name)
        have = b"".join(chunk.data for chunk in kept.chunks if chunk.stream == name)
        half = limit - limit // 2
        assert have == (whole if len(whole) <= limit else whole[:half] + whole[len(whole) - limit // 2 :])
        assert stream.left_out == len(whole) - len(have)
        assert b"".join(chunk.data for chunk in told if chunk.stream == name) == whole[:half]


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
    records: list[CommandRecord] = read_records(str(cut))
    assert [record.command for record in records] == ["echo hi"]


def test_a_text_that_broke_off_has_no_exit_code() -> None:
    assert parse_transcript("# c\n$ sleep 9\n  so far\n") == [TranscriptEntry("sleep 9", "c", "so far\n")]


def _text(heard: list[Chunk], stream: str) -> str:
    return b"".join(chunk.data for chunk in heard if chunk.stream == stream).decode(errors="replace")
