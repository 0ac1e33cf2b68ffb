"""Recordings made fit for the player."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.e2e_kit.recorder import conftest

from mngr_e2e.recorder.cast import parse_cast, text
from mngr_e2e.view.files import FileContent
from mngr_e2e.view.tapes import Tape, read_tape
from mngr_view.chunks import encode

V3 = Path(conftest.__file__).with_name("v3.cast").read_bytes()
HEAD = {"version": 2, "width": 90, "height": 20, "timestamp": 1790000000, "title": "t"}


def tape(*lines: object, end: bytes = b"\n", head: object = HEAD) -> Tape:
    data = b"\n".join(json.dumps(line).encode() for line in (head, *lines)) + end
    return read_tape(FileContent(data, len(data)))


def events(found: Tape) -> list[list[object]]:
    return [json.loads(line) for line in found.text.splitlines()[1:]]


@pytest.mark.accept("V1", "F15")
def test_version_3_becomes_version_2_with_the_same_output_at_the_same_times() -> None:
    found, before = read_tape(FileContent(V3, len(V3))), parse_cast(V3)
    after = parse_cast(found.text.encode())
    assert (after.version, after.size, text(after)) == (2, before.size, text(before))
    assert [round(one.time_s, 6) for one in after.events if one.kind == "o"] == [
        round(one.time_s, 6) for one in before.events if one.kind == "o"
    ]
    assert found.duration_s == pytest.approx(before.duration_s)
    assert found.problem == ""


def test_what_a_header_says_beyond_its_size_stays_outside() -> None:
    found = tape([0.5, "o", "x"], head={**HEAD, "env": {"SECRET": "s"}, "theme": {"fg": "url(x)"}})
    assert json.loads(found.text.splitlines()[0]) == {"version": 2, "width": 90, "height": 20}
    assert (found.cols, found.rows, found.start, found.title) == (90, 20, 1790000000.0, "t")


def test_half_a_line_at_the_end_is_no_news_and_damage_inside_is() -> None:
    found = tape([0.5, "o", "x"], end=b'\n[1.0, "o", "ha')
    assert (events(found), found.problem) == ([[0.5, "o", "x"]], "")
    found = tape([0.5, "o", "x"], {"no": "event"}, [1, "o"], [2.5, "o", "y"])
    assert events(found) == [[0.5, "o", "x"], [2.5, "o", "y"]]
    assert found.problem == "2 damaged lines left out"


@pytest.mark.accept("Q5")
def test_sizes_and_times_that_would_choke_a_player_are_left_out() -> None:
    found = tape(
        [0.5, "r", "999999x999999"],
        [0.6, "r", "100x50"],
        [1e300, "o", "never"],
        [-5, "o", "before"],
        [2, "i", "typed secret"],
        [1.0, "o", "late"],
        head={**HEAD, "width": 10**9, "height": -1},
    )
    assert (found.cols, found.rows) == (80, 24)
    assert events(found) == [[0.6, "r", "100x50"], [2.0, "o", "late"]]
    assert "secret" not in found.text


@pytest.mark.accept("Q5")
def test_a_long_recording_is_cut_at_a_line_and_says_so() -> None:
    data = json.dumps(HEAD).encode() + b'\n[0.5, "o", "x"]\n[1.5, "o", "cut he'
    found = read_tape(FileContent(data, 99_000_000))
    assert events(found) == [[0.5, "o", "x"]]
    assert found.problem == f"99.0 MB long: the first {len(data)} bytes are shown"


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"hello", b"[]", b'{"version": 1}', b"[" * 10_000])
def test_what_is_no_recording_says_so(data: bytes) -> None:
    found = read_tape(FileContent(data, len(data)))
    assert found.text == ""
    assert "no recording" in found.problem


def test_an_empty_recording_says_so() -> None:
    assert tape().problem == "nothing was recorded"


EVENTS = st.tuples(
    st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 100),
    st.sampled_from("orimx") | st.text(max_size=2),
    st.text(),
).map(encode)
HEADS = st.fixed_dictionaries(
    {"version": st.sampled_from([2, 3])},
    optional={
        key: st.integers(-(2**62), 2**62) | st.text() | st.none() | st.just({"cols": 80, "rows": "x"})
        for key in ("width", "height", "timestamp", "title", "term")
    },
).map(encode)


@pytest.mark.accept("Q5", "Q7")
@settings(deadline=None)
@given(st.binary() | HEADS, st.lists(st.binary() | EVENTS))
def test_whatever_is_read_the_player_gets_a_sound_recording(head: bytes, lines: list[bytes]) -> None:
    data = b"\n".join([head, *lines])
    found = read_tape(FileContent(data, len(data)))
    encode(found)
    if found.text:
        cast = parse_cast(found.text.encode())
        times = [event.time_s for event in cast.events]
        assert times == sorted(times)
        assert cast.size == (found.cols, found.rows)
        assert 0 < found.cols <= 1000
