"""The border itself: any bytes become a record that fits, or the name of what does not."""

from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr.model.agent import AgentSpec
from mngr.store import rules
from mngr.store.rules import UnfitError
from mngr.store.untrusted import (
    decode_table,
    read_event,
    read_events,
    read_exit,
    read_fold,
    read_mark,
    read_noted_spec,
    read_number,
    read_pane,
    read_remembered,
    read_spec,
)

ID = "agent-" + "a" * 32
SOUND: dict[str, Any] = {
    "id": ID,
    "name": "foo",
    "type": "command",
    "argv": ["true"],
    "work_dir": "/w/foo",
    "created_at": 1.7e9,
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def spec_with(**fields: Any) -> bytes:
    return msgspec.json.encode({**SOUND, **fields})


@pytest.mark.accept("Q10")
@given(st.one_of(st.binary(), JSON.map(msgspec.json.encode)))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for read in (read_noted_spec, read_exit, read_fold):
        with suppress(UnfitError):
            read(data)
    read_event(data)
    read_events(data)
    read_remembered(data)
    decode_table(data)


@pytest.mark.accept("Q10")
@given(st.sampled_from(AgentSpec.__struct_fields__), JSON)
def test_a_spec_that_looks_usual_passes_every_rule(field: str, value: Any) -> None:
    try:
        spec = msgspec.json.decode(spec_with(**{field: value}), type=AgentSpec)
    except (msgspec.DecodeError, ValueError):
        return
    if rules.is_usual(spec):
        rules.check(spec, rules.SPEC_RULES)


@pytest.mark.accept("Q10")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(
            ("name", "../x"),
            ("name", 5),
            ("id", "agent-" + "b" * 32),
            ("created_at", 1.7e12),
            ("created_at", -1),
        ),
        *(
            ("branch", "-d"),
            ("branch", "a..b"),
            ("branch", "a\x07"),
            ("work_dir", "x"),
            ("work_dir", "/a/../b"),
        ),
        *(
            ("source", "/a\x00"),
            ("labels", {"../k": "v"}),
            ("labels", {"k": "v" * 70_000}),
            ("prefix", "../"),
        ),
        *(("transfer", "/x"), ("argv", ["\x00"]), ("argv", "x"), ("base_commit", "HEAD"), ("isolate", "all")),
        *(
            ("windows", {"\n": ""}),
            ("type", "\x1b"),
            ("creator", {"machine": "m", "boot": "b", "pid": -1, "start": ""}),
        ),
    ],
)
def test_what_does_not_fit_is_named(field: str, value: object) -> None:
    with pytest.raises(UnfitError, match=rf"^{field}\b[ -~]*\Z"):
        read_spec(ID, spec_with(**{field: value}))


@pytest.mark.accept("Q10")
@pytest.mark.parametrize("depth", [40, 3000, 50_000])
def test_nesting_is_refused_before_anybody_walks_it(depth: int) -> None:
    nested = b"[" * depth + b"]" * depth
    with pytest.raises(UnfitError, match="nested too deeply"):
        read_spec(ID, spec_with()[:-1] + b',"type_options":{"k":' + nested + b"}}")
    assert read_event(b'{"at":1,"kind":"x","data":{"k":' + nested + b"}}") is None
    assert decode_table(b'{"k":' + nested + b"}") == {}


@pytest.mark.accept("Q10")
def test_numbers_have_a_range() -> None:
    assert [read_number(text, 255) for text in ("0", "255", "256", "-1", "", "1_0", "²", "9" * 5000)] == [
        *(0, 255),
        *[None] * 6,
    ]
    with pytest.raises(UnfitError):
        read_mark("0", "-", "")
    with pytest.raises(UnfitError):
        read_mark("4194305", "-", "")
    for data in (b'{"exit_code":256}', b'{"signal":"\\u001b"}', b'{"at":1.7e12}', b'{"pid":-1}', b"\xff"):
        with pytest.raises(UnfitError):
            read_exit(data)


@pytest.mark.accept("Q10")
def test_a_pane_of_nobody_is_none() -> None:
    assert (
        read_pane(f"{ID}|12|0|||||/dev/pts/1|mngr-foo|0|title") is None
    )  # one word too many before the terminal
    found = read_pane(f"{ID}|12|1|3||17|/dev/pts/1|mngr-foo|0|a|title")
    assert found
    assert (found[1].exit_code, found[1].dead, found[1].title) == (3, True, "a|title")
    assert read_pane("../x|12|1|3||17|/dev/pts/1|mngr-foo|0|t") is None
    assert read_pane(f"{ID}|{'9' * 5000}|1|3||17|/dev/pts/1|mngr-foo|0|t") is None
