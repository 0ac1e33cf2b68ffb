"""Reading asciicast files."""

from pathlib import Path

import pytest

from mngr_e2e.recorder.cast import CastError, CastEvent, parse_cast, read_cast, repair, text

V3 = Path(__file__).parent / "v3.cast"
HEADER = b'{"version": 2, "width": 80, "height": 24, "timestamp": 7}\n'


def test_v2_times_are_absolute() -> None:
    cast = parse_cast(HEADER + b'[0.5, "o", "a"]\n[1.5, "i", "q"]\n[2, "o", "\\u00e9"]\n')
    assert cast.size == (80, 24)
    assert cast.started == 7
    assert cast.events == (CastEvent(0.5, "o", "a"), CastEvent(1.5, "i", "q"), CastEvent(2.0, "o", "é"))
    assert cast.duration_s == 2
    assert text(cast) == "aé"
    assert cast.is_complete


@pytest.mark.accept("F15")
def test_v3_times_are_summed_and_comments_left_out() -> None:
    cast = read_cast(V3)
    assert cast.version == 3
    assert cast.size == (80, 24)
    assert [event.time_s for event in cast.events] == [0.25, 1.25, 4.75, 6.75, 7.0, 7.5]
    assert [event.kind for event in cast.events] == ["o", "o", "m", "r", "o", "x"]
    assert text(cast).endswith("This is better.späť")
    assert cast.is_complete


@pytest.mark.accept("F15")
@pytest.mark.parametrize("path", ["v2", "v3"])
def test_every_cut_of_a_recording_can_be_read(path: str) -> None:
    whole = (
        V3.read_bytes() if path == "v3" else HEADER + b'[0.5, "o", "a"]\n[1.5, "o", "sp\xc3\xa4\xc5\xa5"]\n'
    )
    first = whole.index(b"\n") + 1
    counts = [len(parse_cast(whole[:end]).events) for end in range(first, len(whole) + 1)]
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] == len(parse_cast(whole).events)


def test_a_half_line_is_left_out_and_said() -> None:
    cast = parse_cast(HEADER + b'[0.5, "o", "a"]\n[0.7, "o", "b')
    assert text(cast) == "a"
    assert not cast.is_complete
    assert parse_cast(HEADER + b'[0.5, "o", "a"]').is_complete


def test_an_empty_recording_lasts_no_time() -> None:
    assert parse_cast(HEADER).duration_s == 0


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (b"", "line 1"),
        (b"hello\n", "line 1"),
        (b'{"version": 1}\n', "version 1"),
        (b'{"version": 2, "width": 80}\n', "height"),
        (HEADER + b'oops\n[1, "o", "x"]\n', "line 2"),
    ],
)
def test_what_is_no_recording_is_refused_by_line(tmp_path: Path, data: bytes, wrong: str) -> None:
    path = tmp_path / "x.cast"
    path.write_bytes(data)
    with pytest.raises(CastError, match=wrong) as caught:
        read_cast(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("tail", "kept"), [(b'[1, "o', b""), (b'[1, "o", "x"]', b'[1, "o", "x"]'), (b"", b"")]
)
def test_mending_cuts_a_half_line_only(tmp_path: Path, tail: bytes, kept: bytes) -> None:
    path = tmp_path / "x.cast"
    path.write_bytes(HEADER + b'[0.5, "o", "a"]\n' + tail)
    repair(path)
    assert path.read_bytes() == HEADER + b'[0.5, "o", "a"]\n' + kept
