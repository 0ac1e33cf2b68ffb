"""The last status of a test comes from its newest artifact."""

import os
from pathlib import Path

import pytest

from mngr_e2e.tutorial.status import last_statuses, statuses_of


def write_meta(root: Path, where: str, text: str, age_s: float = 0.0) -> None:
    path = root / where / "meta.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    os.utime(path, (1e9 - age_s, 1e9 - age_s))


@pytest.mark.accept("Y15")
def test_the_newest_attempt_counts(tmp_path: Path) -> None:
    write_meta(
        tmp_path, "run-1/a/attempt-1", '{"node_id": "t.py::test_a", "status": "failed", "more": 1}', 20
    )
    write_meta(tmp_path, "run-1/a/attempt-2", '{"node_id": "t.py::test_a", "status": "passed"}', 10)
    write_meta(tmp_path, "run-0/b/attempt-1", '{"node_id": "t.py::test_b", "status": "skipped"}', 30)
    assert last_statuses(str(tmp_path)) == {"t.py::test_a": "passed", "t.py::test_b": "skipped"}


@pytest.mark.accept("Y15")
def test_the_newest_of_several_folders_counts(tmp_path: Path) -> None:
    write_meta(tmp_path, "here/run/a/attempt-1", '{"node_id": "t.py::test_a", "status": "failed"}', 20)
    write_meta(tmp_path, "[there]/run/a/attempt-1", '{"node_id": "t.py::test_a", "status": "passed"}', 10)
    folders = (str(tmp_path / "here"), str(tmp_path / "[there]"))
    assert last_statuses(*folders) == last_statuses(*reversed(folders)) == {"t.py::test_a": "passed"}
    assert last_statuses(folders[0]) == {"t.py::test_a": "failed"}


@pytest.mark.accept("Y15")
def test_no_artifacts_and_broken_ones_are_passed_over(tmp_path: Path) -> None:
    assert last_statuses(str(tmp_path / "none")) == {}
    for number, text in enumerate(["", "{", "[]", '{"node_id": 1}', "\x00"]):
        write_meta(tmp_path, f"r/t{number}/attempt-1", text)
    assert last_statuses(str(tmp_path)) == {}


@pytest.mark.accept("Y15")
def test_node_ids_meet_wherever_pytest_was_started() -> None:
    last = {
        "e2e/test_a.py::test_x": "passed",
        "e2e/test_a.py::test_p[1]": "passed",
        "e2e/test_a.py::test_p[a::b]": "failed",
        "other/test_a.py::test_x": "failed",
    }
    ids = ["tests/e2e/test_a.py::test_x", "./e2e/test_a.py::test_p", "tests/e2e/test_a.py::test_y"]
    assert statuses_of(ids, last) == {ids[0]: "passed", ids[1]: "failed"}
