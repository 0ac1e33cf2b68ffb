"""Text of others is printed and stored without doing anything."""

from mngr_lib.safe_text import one_line, plain, safe_lines, storable


def test_what_a_terminal_acts_upon_is_shown() -> None:
    assert one_line("a\x1b[2J\nb\u202e") == r"a\x1b[2J\nb\u202e"
    assert safe_lines("a\x1b[2J\nb\u202e") == "a\\x1b[2J\nb\\u202e"
    assert one_line("x" * 1000, 200) == "x" * 200 + "…"


def test_plain_text_has_none_of_it_and_keeps_lines_tabs_and_spaces() -> None:
    assert plain("a\x1b[2J\n\tb\u202e\ud800c\u3000d\u2028") == "a[2J\n\tbc\u3000d"


def test_what_utf_8_cannot_hold_is_stored_as_an_escape_however_deep() -> None:
    value = {"\udc80": ["é", ("\ud800", 1)]}
    assert storable(value) == {"\\udc80": ["é", ["\\ud800", 1]]}
