"""The list of `[tmr]` keys in docs/pipeline.md is the one that the code has."""

from pathlib import Path

import mngr
from mngr_tmr.cli.settings import KEYS
from mngr_tmr.model.run import RunOptions

# What a run works out when nobody says it.
WORKED_OUT = {"own_venv"}
PAGE = Path(__file__).parents[3] / "docs/pipeline.md"


def rows() -> dict[str, list[str]]:
    _, _, table = PAGE.read_text().partition(
        "| key | type | default | meaning |\n| --- | --- | --- | --- |\n"
    )
    lines = table.partition("\n\n")[0].strip().split("\n")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {key.strip("`"): rest for key, *rest in cells}


def test_every_key_of_the_pipeline_has_a_line() -> None:
    lacking = sorted(set(KEYS) - set(rows()))
    gone = sorted(set(rows()) - set(KEYS))
    assert (lacking, gone) == ([], []), f"{PAGE}: no line for {lacking}; lines for keys that are gone: {gone}"
    assert list(rows()) == sorted(rows())
    assert [key for key, cells in rows().items() if len(cells) != 3 or not all(cells)] == []


def test_the_defaults_in_the_list_are_those_of_the_code() -> None:
    """One that is empty, or 0 for a number that is worked out later, is told in words."""
    defaults = RunOptions()
    for key, (kind, default, _) in rows().items():
        found = getattr(defaults, key, getattr(defaults, f"{key}_s", None))
        if key in WORKED_OUT:
            continue
        if kind == "time" and isinstance(found, float):
            assert mngr.parse_duration(default.strip("`")) == found, key
        elif isinstance(found, bool):
            assert (kind, default) == ("true or false", f"`{str(found).lower()}`"), key
        elif found:
            assert default == f"`{found}`", key
