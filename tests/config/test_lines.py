"""Setting and unsetting a key of a text changes that key and nothing else."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr.config.lines import set_key, unset_key
from mngr.errors import RefusedError

FILE = """\
# What we all use.
prefix = "a-"   # short

# Options.
[commands.create]
connect-command = 'x # y'  # why
label = [
    "a=b",
    "c=d",
]

# Odds and ends.
[tmr]
slots = 3
note = '''
# no comment
'''
"""


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    old, new = before.splitlines(), after.splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


@pytest.mark.parametrize(
    ("key", "value", "gone", "new"),
    [
        ("prefix", "b-", ['prefix = "a-"   # short'], ['prefix = "b-"   # short']),
        ("tmr.slots", 4, ["slots = 3"], ["slots = 4"]),
        (
            "commands.create.connect_command",
            ["z"],
            ["connect-command = 'x # y'  # why"],
            ['connect-command = ["z"]  # why'],
        ),
        (
            "commands.create.label",
            ["e=f"],
            ["label = [", '    "a=b",', '    "c=d",', "]"],
            ['label = ["e=f"]'],
        ),
        ("commands.create.branch", "b", [], ['branch = "b"']),
        ("commands.list.limit", 5, [], ["[commands.list]", "limit = 5"]),
        ("tmr.deep.er", True, [], ["[tmr.deep]", "er = true"]),
        ('templates."v1.2".branch', "b", [], ['[templates."v1.2"]', 'branch = "b"']),
    ],
)
def test_set_touches_only_its_own_lines(key: str, value: Any, gone: list[str], new: list[str]) -> None:
    parts = ("templates", "v1.2", "branch") if '"' in key else tuple(key.split("."))
    after = set_key(FILE, parts, value, "f")
    assert changed_lines(FILE, after) == (gone, new)
    node: Any = tomllib.loads(after.replace("connect-command", "connect_command"))
    for part in parts:
        node = node[part]
    assert node == value


def test_a_new_key_joins_its_table_and_not_the_next_ones_comment() -> None:
    after = set_key(FILE, ("commands", "create", "branch"), "b", "f")
    assert ']\nbranch = "b"\n\n# Odds and ends.\n[tmr]' in after


def test_a_top_level_key_goes_before_the_first_table() -> None:
    assert set_key("# top\n\n# on a\n[tmr]\nx = 1\n", ("prefix",), "p", "f") == (
        '# top\n\nprefix = "p"\n# on a\n[tmr]\nx = 1\n'
    )
    assert set_key("", ("prefix",), "p", "f") == 'prefix = "p"\n'
    assert set_key("# only words", ("prefix",), "p", "f") == '# only words\nprefix = "p"\n'


def test_dotted_keys_are_joined_by_dotted_keys() -> None:
    before = "notify.command = 'x'\ntmr.a = 1\n[providers.ssh]\nport = 1\n"
    after = set_key(before, ("tmr", "b"), 2, "f")
    assert after == "notify.command = 'x'\ntmr.a = 1\ntmr.b = 2\n[providers.ssh]\nport = 1\n"


def test_line_endings_stay_as_they_are() -> None:
    before = "[tmr]\r\nx = 1 # one\r\ny = 2"
    assert set_key(before, ("tmr", "x"), 3, "f") == "[tmr]\r\nx = 3 # one\r\ny = 2"
    assert set_key(before, ("tmr", "z"), 3, "f") == "[tmr]\r\nx = 1 # one\r\ny = 2\r\nz = 3\r\n"
    assert set_key("a = 1", ("a",), 2, "f") == "a = 2"


def test_numbers_that_equal_nothing_do_not_stand_in_the_way() -> None:
    assert set_key("[tmr]\nx = nan\n", ("tmr", "y"), True, "f") == "[tmr]\nx = nan\ny = true\n"
    assert unset_key("[tmr]\nx = nan\ny = 1\n", ("tmr", "y"), "f") == "[tmr]\nx = nan\n"


def test_unset_removes_its_lines_only() -> None:
    after = unset_key(FILE, ("commands", "create", "label"), "f")
    assert changed_lines(FILE, after) == (["label = [", '    "a=b",', '    "c=d",', "]"], [])
    assert changed_lines(FILE, unset_key(FILE, ("tmr", "note"), "f"))[0] == [
        "note = '''",
        "# no comment",
        "'''",
    ]
    assert unset_key(FILE, ("tmr", "nothing"), "f") == FILE


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[tmr]\nx = [\n  1, # one\n]\n", "tmr.x"),
        ("tmr = { x = 1 }\n", "tmr.x"),
        ("tmr = { x = 1 }\n", "tmr.y"),
        ("[[tmr]]\nx = 1\n", "tmr.x"),
        ("[tmr.x]\ny = 1\n", "tmr.x"),
        ("tmr = 1\n", "tmr.x"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused_with_the_way_out(text: str, key: str) -> None:
    with pytest.raises(RefusedError) as caught:
        set_key(text, tuple(key.split(".")), 2, "f")
    assert "mngr config edit" in caught.value.hint


def test_unsetting_a_whole_table_is_refused() -> None:
    with pytest.raises(RefusedError):
        unset_key("[tmr.x]\ny = 1\n", ("tmr", "x"), "f")
    with pytest.raises(RefusedError):
        unset_key("tmr = { x = 1, y = 2 }\n", ("tmr", "x"), "f")


TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
VALUES = st.recursive(
    TEXTS | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, min_size=1, max_size=3),
    max_leaves=6,
)
KEYS = st.tuples(st.just("tmr"), TEXTS) | st.tuples(st.just("providers"), TEXTS, TEXTS)


@pytest.mark.accept("Q7")
@given(st.dictionaries(KEYS, VALUES, max_size=5), KEYS, VALUES, VALUES)
def test_set_and_unset_come_back_and_keep_every_comment(
    others: dict[tuple[str, ...], Any], key: tuple[str, ...], first: Any, second: Any
) -> None:
    others.pop(key, None)
    text = FILE
    for other, value in others.items():
        text = set_key(text, other, value, "f")
    before = tomllib.loads(text)
    found = before
    for part in key:
        found = found.get(part, {})
    if found != {}:
        return
    with_first = set_key(text, key, first, "f")
    with_second = set_key(with_first, key, second, "f")
    node: Any = tomllib.loads(with_second)
    for part in key:
        node = node[part]
    assert (type(node), node) == (type(second), second)
    after = unset_key(with_second, key, "f")
    assert _pruned(tomllib.loads(after)) == _pruned(before)
    left = iter(after.splitlines())
    assert all(line in left for line in text.splitlines())


def _pruned(value: Any) -> Any:
    """Without the empty tables that an unset leaves behind as headers."""
    if not isinstance(value, dict):
        return value
    below = {name: _pruned(item) for name, item in value.items()}
    return {name: item for name, item in below.items() if item != {}}
