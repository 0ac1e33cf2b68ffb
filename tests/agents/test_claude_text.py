"""What may be sent to Claude Code's prompt, and the checksum by which it is known again."""

import subprocess

import pytest

from mngr.agents.claude.text import check_text, readings, sum_of
from mngr.agents.shared.cksum import cksum
from mngr.errors import RefusedError

pytestmark = pytest.mark.accept("K8")


@pytest.mark.parametrize(
    "text", ["hello", "two\nlines\tand a tab", "/compact", "  spaced", "ünï 🦊", "exit now"]
)
def test_text_is_taken(text: str) -> None:
    assert check_text(text.encode()) == text


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (b"abc\x1b[31m", "0x1b at offset 3"),
        (b"abc\rdef", "0x0d at offset 3"),
        ("ü\x7f".encode(), "0x7f at offset 2"),
        (b"abc\xff", "0xff at offset 3 is not UTF-8"),
        (b"!rm -rf x", "run it in a shell"),
        (b" exit\n", '"exit" would end it'),
        (b"more \\", "backslash"),
        (b" \n\t", "nothing in it"),
    ],
)
def test_what_its_prompt_would_act_on_is_refused(message: bytes, why: str) -> None:
    with pytest.raises(RefusedError, match="cannot be sent") as caught:
        check_text(message)
    assert why in caught.value.message
    assert caught.value.hint


def test_readings_are_what_the_prompt_may_make_of_a_text() -> None:
    assert readings("plain") == ("plain",)
    assert readings("a\tb  ") == ("a    b  ", "a    b")
    assert readings("e\u0301") == ("e\u0301", "\u00e9")


@pytest.mark.parametrize("data", [b"", b"x", b"hello\n", bytes(range(256)) * 300])
def test_the_checksum_is_that_of_the_program(data: bytes) -> None:
    done = subprocess.run(["cksum"], input=data, capture_output=True, check=True)
    assert cksum(data) == done.stdout.decode().strip()


def test_texts_are_named_as_json_quotes_them() -> None:
    assert sum_of('a "b"\n\\ ü') == cksum('a \\"b\\"\\n\\\\ ü\n'.encode())
