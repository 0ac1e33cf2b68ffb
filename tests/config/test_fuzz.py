"""Whatever bytes a config file holds, loading gives a Config or a UsageError."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.config.files import ConfigFiles

from mngr.config.edit import Edited, set_value, unset_value
from mngr.config.keys import join_key, parse_key
from mngr.config.layers import Config
from mngr.errors import MngrError, UsageError

NAMES = 'commands templates agent_types providers notify plugins tmr prefix create command args x-y x_y "a.b"'
SIGNS = "[ ] [[ ]] { } = . , # ' \" \"\"\" ''' 1 1.5 true 2024-01-01 0xff inf nan \\ \\u0000 \\uD800"
WORDS = st.sampled_from([*NAMES.split(), *SIGNS.split(), "\n", " ", "\r\n"])
TOKENS = st.lists(WORDS, max_size=40).map(lambda words: " ".join(words).encode())
DOCUMENTS = st.one_of(
    st.binary(max_size=200), TOKENS, st.text(max_size=100).map(lambda t: t.encode(errors="replace"))
)


def outcome(files: ConfigFiles, *overrides: str, env: dict[str, str] | None = None) -> Config | None:
    try:
        config = files.load(*overrides, env=env)
    except UsageError as error:
        _check_readable(error)
        return None
    assert [key for key, value, _ in config.items() if repr(config.get(key)) != repr(value)] == []
    return config


def _check_readable(error: UsageError) -> None:
    assert error.message.isprintable()


@pytest.mark.accept("Q7")
@given(DOCUMENTS, DOCUMENTS)
def test_any_bytes_give_a_config_or_a_usage_error(user: bytes, project: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = ConfigFiles(Path(folder))
        files.user.write_bytes(user)
        files.project.write_bytes(project)
        outcome(files)


@pytest.mark.accept("Q7")
@given(st.text(max_size=60) | TOKENS.map(bytes.decode), st.text(max_size=30), st.text(max_size=30))
def test_any_words_give_a_config_or_a_usage_error(word: str, name: str, value: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = ConfigFiles(Path(folder))
        outcome(files, word)
        outcome(files, f"tmr.{name}={value}")
        outcome(files, env={f"MNGR__{name}": value, f"MNGR__TMR__{name}": value})


@pytest.mark.accept("Q7")
@pytest.mark.parametrize(
    "text",
    [
        "[" * 5000,
        "x = " + "[" * 5000,
        "x = " + "[" * 5000 + "]" * 5000,
        "tmr.x = " + "{a = " * 900 + "1" + "}" * 900,
        "tmr" + ".a" * 1500 + " = 1",
        "tmr" + ".a" * 100000 + " = 1",
        "[tmr" + ".a" * 1500 + "]",
        "tmr.x = [{a" + ".a" * 1500 + " = 1}]",
        "tmr.x = " + "9" * 5000,
        "tmr.x = 0x" + "f" * 5000,
        "tmr.x = 9223372036854775808",
        '"\\u001b[31m" = 1',
        '"' + "k" * 100000 + '" = 1',
        "prefix = 'a\x00'",
        "\ufeffprefix = 'a'",
    ],
    ids=lambda text: repr(text[:20]),
)
def test_monsters_are_usage_errors(files: ConfigFiles, text: str) -> None:
    outcome(files, f"tmr.y={text}")
    outcome(files, text)
    files.project.write_text(text)
    assert outcome(files) is None


@pytest.mark.accept("Q7")
@given(TOKENS, st.text(max_size=8), st.text(max_size=20))
def test_editing_any_file_ends_well_or_leaves_it_alone(before: bytes, name: str, value: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = ConfigFiles(Path(folder))
        files.user.write_bytes(before)
        key = join_key(("tmr", name))
        _try(files, lambda: set_value(files.places, "user", key, value))
        _try(files, lambda: unset_value(files.places, "user", key))


def _try(files: ConfigFiles, edit: Callable[[], Edited]) -> None:
    before = files.user.read_bytes()
    try:
        changed = edit().changed
    except MngrError:
        changed = False
    assert changed == (files.user.read_bytes() != before)
    assert os.listdir(files.places.host_dir) == ["config.toml"]


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=6), min_size=1, max_size=4))
def test_a_dotted_key_comes_back_as_it_went(parts: list[str]) -> None:
    dotted = join_key(parts)
    assert dotted.isprintable()
    assert parse_key(dotted) == tuple(parts)
