"""How much room a page needs."""

from pathlib import Path

import pytest
from bench.artifacts import make_run, size_of
from tests.view.desk import TEMPLATE

from mngr_e2e.view.runs import find_runs
from mngr_e2e.view.source import Choice, E2eSource
from mngr_view.page import write_page


@pytest.mark.accept("S8")
def test_the_data_of_a_page_is_smaller_than_the_artifacts_by_far(tmp_path: Path) -> None:
    run = make_run(str(tmp_path / "runs"), 12)
    source = E2eSource(Choice(tuple(find_runs(str(tmp_path / "runs"))), "title"))
    file = tmp_path / "page.html"
    write_page(str(file), source.index(), source.chunks(), template=TEMPLATE)
    assert size_of(run) > 12 * 170_000
    assert file.stat().st_size <= 0.4 * size_of(run)
