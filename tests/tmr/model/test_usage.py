"""Counts of tokens and dollars come from agents' own records: none of them breaks a reader."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr_tmr.model.usage import NO_USAGE, AgentUsage, add_usages, make_usage, read_usage

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
FIELDS = st.sampled_from([*AgentUsage.__struct_fields__, "group"])


@pytest.mark.accept("O1")
@pytest.mark.parametrize(
    "field",
    [
        b'"input_tokens": ' + b"9" * 400,
        b'"input_tokens": -5',
        b'"output_tokens": "many"',
        b'"output_tokens": true',
        b'"cost_usd": -1',
        b'"cost_usd": 1e300',
        b'"models": 7',
        b'"models": [7]',
    ],
)
def test_a_value_that_makes_no_sense_is_named_and_counts_as_nothing(tmp_path: Path, field: bytes) -> None:
    path = tmp_path / "usage.json"
    path.write_bytes(b'{"turns": 3, ' + field + b"}")
    usage = read_usage(str(path))
    name = field.split(b'"')[1].decode()
    assert usage == AgentUsage(turns=3, problem=f"{name} cannot be read")


@pytest.mark.accept("O1")
@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"3", b'{"input_tokens": NaN}', b'{"a": 1e999}', b"[" * 5000, b"\xff" * 9, b" " * (2 << 20)],
)
def test_a_file_that_cannot_be_read_is_a_problem_and_no_crash(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "usage.json"
    path.write_bytes(text)
    assert read_usage(str(path)) == AgentUsage(problem=read_usage(str(path)).problem)
    assert read_usage(str(path)).problem
    assert read_usage(str(tmp_path / "none.json")) == NO_USAGE


@pytest.mark.accept("O1")
@given(st.lists(st.dictionaries(FIELDS, ANYTHING)))
def test_whatever_records_say_their_sum_can_be_stored(records: list[dict[str, Any]]) -> None:
    total = add_usages(map(make_usage, records))
    assert 0 <= total.tokens <= 4 * 10**12 * len(records)
    assert total.cost_usd is None or 0 <= total.cost_usd <= 10**6 * len(records)
    again = make_usage(total)
    assert len(records) > 1 or (again.tokens, again.models) == (total.tokens, total.models)
