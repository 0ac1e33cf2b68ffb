"""The front end and Python speak of the same records."""

from pathlib import Path

from mngr_view.typescript import declarations

_RECORDS = Path(__file__).parents[2] / "web" / "src" / "lib" / "records.ts"


def test_the_front_ends_records_are_those_of_python() -> None:
    assert _RECORDS.read_text() == declarations(), "python -m mngr_view.typescript > web/src/lib/records.ts"
