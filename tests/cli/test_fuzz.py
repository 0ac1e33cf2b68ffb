"""Whatever a user or a stranger writes gets an answer or one clear error, never another exception."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr.actions.create.request import read_request, split_request
from mngr.actions.filter import Filter
from mngr.cli.render import CommandOutput
from mngr.cli.stdin import read_item
from mngr.cli.template import parse_template
from mngr.cli.terminal_text import fit, width
from mngr.cli.verb import spread
from mngr.errors import MngrError, UsageError
from mngr.model.agent import Agent, AgentState
from mngr.model.duration import parse_duration
from mngr_lib.safe_text import one_line, safe_lines

AGENT = Agent("agent-" + "0" * 32, "foo", "foo", "command", AgentState.RUNNING)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def refusal(work: Callable[[], object]) -> MngrError | None:
    """The error of ours that was raised, if any."""
    try:
        work()
    except MngrError as error:
        return error
    return None


def is_clear(error: MngrError | None) -> bool:
    return error is None or (isinstance(error, UsageError) and bool(error.message and error.hint))


@pytest.mark.accept("Q7")
@given(st.text(st.sampled_from("{}\\tnab.e! =~") | st.characters()))
def test_a_format_is_understood_or_refused(text: str) -> None:
    assert is_clear(refusal(lambda: CommandOutput(text).check(Agent)))


@pytest.mark.accept("Q7")
@given(
    st.lists(st.sampled_from(["name", "state", "labels.x", "host.name"])),
    st.text(st.characters(exclude_characters="{}\\")),
)
def test_a_template_keeps_every_other_character(fields: list[str], between: str) -> None:
    text = between + "".join(f"{{{field}}}{between}" for field in fields)
    template = parse_template(text)
    assert template.fields == tuple(fields)
    assert template.fill({}) == between * (len(fields) + 1)


@pytest.mark.accept("Q7")
@given(st.text(st.sampled_from("state=!~*[]host.nam") | st.characters()))
def test_a_filter_is_understood_or_refused(text: str) -> None:
    wanted = Filter(where=(text,))
    error = refusal(wanted.check)
    assert is_clear(error)
    assert error or wanted.matches(AGENT) in (True, False)


@pytest.mark.accept("Q7")
@given(st.text(st.sampled_from("0123456789.smhd ") | st.characters()))
def test_a_duration_is_seconds_or_refused(text: str) -> None:
    error = refusal(lambda: parse_duration(text))
    assert is_clear(error)
    assert error or parse_duration(text) >= 0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("1.5s", 1.5), ("10m", 600), ("2h", 7200), ("1h30m", 5400), ("250ms", 0.25)],
)
def test_durations_as_people_write_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.accept("Q7")
@given(st.binary() | json_values.map(lambda value: repr(value).encode(errors="replace")))
def test_a_line_on_stdin_is_a_target_or_a_problem(line: bytes) -> None:
    item = read_item(line)
    assert isinstance(item.target, str)
    assert item.target or item.problem or not line.strip()


@pytest.mark.accept("Q7")
@given(
    st.dictionaries(
        st.sampled_from(["name", "args", "env", "labels", "timeout", "cpus", "record", "x"]), json_values
    )
)
def test_a_line_of_create_is_a_spec_or_refused(line: dict[str, Any]) -> None:
    asked, carried = split_request(line)
    assert {**asked, **carried} == line
    error = refusal(lambda: read_request(asked))
    assert error is None or error.exit_code == 2


@pytest.mark.accept("Q5", "Q7")
@given(st.text(st.characters() | st.sampled_from("\x1b\x07\r\n\t\u202e\u200b界e\u0301")))
def test_what_strangers_wrote_cannot_move_the_cursor(text: str) -> None:
    shown = one_line(text)
    assert shown.isprintable()
    assert safe_lines(text).replace("\n", "").replace("\t", "").isprintable() or any(map(str.isspace, text))
    assert width(fit(shown, 10)) <= 10


@given(st.lists(st.sampled_from(["--files", "-", "a", "b", "--to", "--", "-y"])))
def test_spreading_an_option_keeps_every_word(words: list[str]) -> None:
    assert [word for word in spread("--files", words) if word != "--files"] == [
        word for word in words if word != "--files"
    ]


def test_an_option_takes_the_words_up_to_the_next() -> None:
    spread_out = spread("--files", ["foo", "--files", "a", "b", "--to", "d", "x"])
    assert spread_out == ["foo", "--files", "a", "--files", "b", "--to", "d", "x"]
