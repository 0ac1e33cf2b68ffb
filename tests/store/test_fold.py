"""Events in, state out."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from mngr.model.agent import ModelError
from mngr.model.event import Event, encode_event
from mngr.store.fold import Folded, encode_fold
from mngr.store.rules import UnfitError
from mngr.store.untrusted import fold_bytes, read_fold


def log(*events: tuple[float, str, dict[str, object]]) -> bytes:
    return b"".join(encode_event(Event(at, kind, data)) + b"\n" for at, kind, data in events)


STORY = log(
    (1, "creating", {}),
    (2, "started", {}),
    (3, "created", {}),
    (4, "labelled", {"labels": {"a": "1"}}),
    (5, "prompt_submitted", {}),
    (6, "turn_ended", {}),
    (7, "renamed", {"name": "bar"}),
    (8, "exited", {"exit_code": 7, "signal": None}),
)


def test_a_story_folds_to_its_end() -> None:
    folded = fold_bytes(Folded(), STORY)
    assert (folded.name, folded.labels, folded.exit_code, folded.exit_seen) == ("bar", {"a": "1"}, 7, True)
    assert (folded.started_at, folded.ended_at, folded.offset) == (2, 8, len(STORY))


@given(st.integers(0, len(STORY)), st.integers(0, len(STORY)))
def test_folding_in_pieces_is_folding_at_once(first: int, second: int) -> None:
    folded = Folded()
    for end in (*sorted((first, second)), len(STORY)):
        folded = read_fold(encode_fold(fold_bytes(folded, STORY[folded.offset : end])))
    assert folded == fold_bytes(Folded(), STORY)


def test_a_new_start_forgets_the_old_end() -> None:
    folded = fold_bytes(Folded(), STORY + log((9, "started", {})))
    assert (folded.exit_seen, folded.exit_code, folded.ended_at, folded.started_at) == (False, None, None, 9)


@given(st.binary())
def test_garbage_in_a_log_is_passed_over(garbage: bytes) -> None:
    folded = fold_bytes(Folded(), STORY + garbage.replace(b"\n", b" ") + b"\n" + log((9, "stopped", {})))
    assert folded.stopped
    assert folded.name == "bar"


@given(st.binary())
def test_a_torn_fold_is_refused(data: bytes) -> None:
    with suppress(UnfitError):
        assert isinstance(read_fold(data), Folded)


def test_the_error_of_a_model_stays_until_the_agent_goes_on() -> None:
    refused = log(
        (9, "started", {}),
        (10, "prompt_submitted", {}),
        (11, "api_error", {"error": "billing_error", "message": "no credit"}),
        (12, "turn_ended", {"reason": "api_error"}),
    )
    folded = fold_bytes(Folded(), STORY + refused)
    assert folded.error == ModelError("billing", "no credit")
    assert read_fold(encode_fold(folded)) == folded
    for kind in ("prompt_submitted", "turn_ended", "started"):
        assert fold_bytes(folded, log((13, kind, {}))).error is None
    retried = log((14, "api_error", {"error": "rate_limit"}))
    assert fold_bytes(folded, retried).error == ModelError("rate_limit", "rate_limit")
