"""Records as elements of the page."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.view.desk import chunks_of

from mngr_view.chunks import elements, encode
from mngr_view.records import Detail, ScreenText

ANY_TEXT = st.text(st.characters(codec=None))


@pytest.mark.accept("V4", "Q5")
@given(ANY_TEXT)
def test_no_text_leaves_its_element_and_all_of_it_arrives(text: str) -> None:
    record = Detail((), failure=text, screens=(ScreenText(text, "</script><!--"),), files=("<script>",))
    page = b"".join(elements([("detail/1", encode(record))]))
    assert page.count(b"<") == 2
    found = chunks_of(page)["detail/1"]
    assert found["failure"] == text.encode(errors="backslashreplace").decode()
    assert found["screens"][0]["text"] == "</script><!--"


@pytest.mark.accept("V4")
@pytest.mark.parametrize("key", ["", "A", 'a"', "a b", "a<", "a\n", "../É", "a>b"])
def test_a_key_that_could_be_markup_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="key"):
        list(elements([(key, b"1")]))


def test_a_key_is_there_once() -> None:
    with pytest.raises(ValueError, match="already"):
        list(elements([("a", b"1"), ("a", b"2")]))


def test_the_same_data_is_the_same_bytes_in_the_same_order() -> None:
    data = [(f"cast/{number}", encode("x" * number)) for number in range(50)]
    page = b"".join(elements(data))
    assert page == b"".join(elements(data))
    assert list(chunks_of(page)) == [key for key, _ in data]


@pytest.mark.accept("S8")
def test_few_chunks_are_held_at_a_time() -> None:
    made: list[str] = []

    def many() -> Iterator[tuple[str, bytes]]:
        for number in range(1000):
            made.append(key := f"cast/{number}")
            yield key, b'"x"'

    ahead = [len(made) - given for given, _ in enumerate(elements(many()), start=1)]
    assert len(made) == 1000
    assert max(ahead) < 20
