"""Runs as the page asks for them."""

import shutil
from pathlib import Path

import msgspec
import pytest
from tests.e2e_kit.view.desk import T0, RunDesk, record, write_cast, write_records
from tests.view.desk import TEMPLATE, chunks_of

from mngr_e2e.session.alive import hold
from mngr_e2e.view.choose import NoSuchRunError, all_runs, chosen_runs
from mngr_e2e.view.source import Choice, E2eSource
from mngr_view.page import write_page

A, B = "tests/test_a.py::test_one", "tests/test_a.py::test_two"


def fill(run: RunDesk, node_id: str) -> Path:
    folder = run.attempt(node_id, "failed")
    write_records(folder, record("echo 1", T0 + 1, (0.0, "1\n")))
    write_cast(folder, "1-shell.cast", T0, (0.5, "hello"))
    return folder


def source_of(*runs: RunDesk, follow: str = "") -> E2eSource:
    return E2eSource(Choice(tuple(run.folder for run in runs), "title", follow=follow))


def page_of(source: E2eSource, file: Path) -> bytes:
    index = msgspec.structs.replace(source.index(), generated_at=0.0)
    write_page(str(file), index, source.chunks(), template=TEMPLATE)
    return file.read_bytes()


@pytest.mark.accept("V1", "V3", "V4")
def test_a_page_holds_every_detail_and_recording_that_it_names(tmp_path: Path) -> None:
    one, two = RunDesk(tmp_path, "one"), RunDesk(tmp_path, "two")
    fill(one, A)
    fill(one, B)
    fill(two, A)
    chunks = chunks_of(page_of(source_of(one, two), tmp_path / "page.html"))
    index = chunks.pop("index")
    named = {
        attempt["chunk"] for run in index["runs"] for test in run["tests"] for attempt in test["attempts"]
    }
    casts = {cast["chunk"] for key in named for cast in chunks[key]["casts"]}
    assert named | casts == chunks.keys()
    assert (len(named), len(casts)) == (3, 3)
    assert all('"hello"' in chunks[key] for key in casts)
    assert [run["id"] for run in index["runs"]] == ["one", "two"]


def test_the_same_artifacts_make_the_same_page_wherever_they_are(tmp_path: Path) -> None:
    run = RunDesk(tmp_path / "here", "run")
    fill(run, A)
    first = page_of(source_of(run), tmp_path / "1.html")
    assert page_of(source_of(run), tmp_path / "2.html") == first
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    (moved,) = all_runs([str(tmp_path / "there")])
    assert page_of(E2eSource(Choice((moved,), "title")), tmp_path / "3.html") == first


@pytest.mark.accept("V7")
def test_what_a_server_is_asked_for_is_what_the_page_holds(tmp_path: Path) -> None:
    run = RunDesk(tmp_path, "run")
    fill(run, A)
    source = source_of(run)
    page = chunks_of(page_of(source, tmp_path / "page.html"))
    page.pop("index")
    fresh = source_of(run)
    for key, value in page.items():
        data = fresh.chunk(key)
        assert data
        assert msgspec.json.decode(data) == value
    for key in ("", "index", "detail/none", "detail/", "cast/none/none", *(f"{key}/../x" for key in page)):
        assert fresh.chunk(key) is None or fresh.chunk(key) == fresh.chunk(key.partition("/..")[0])


@pytest.mark.accept("V7")
def test_every_change_that_is_shown_changes_the_version(tmp_path: Path) -> None:
    run = RunDesk(tmp_path, "run")
    folder = fill(run, A)
    source = source_of(run, follow=str(tmp_path))
    seen = [source.version()]

    def assert_changed() -> None:
        seen.append(source.version())
        assert seen.count(seen[-1]) == 1

    assert source.version() == seen[0]
    with (folder / "transcript.txt").open("a") as file:
        file.write("\n$ next\n")
    assert_changed()
    with (folder / "casts" / "1-shell.cast").open("a") as file:
        file.write('[1, "o", "x"]\n')
    assert_changed()
    with hold(str(run.path)):
        assert_changed()
    run.attempt(B, "running")
    assert_changed()
    RunDesk(tmp_path, "next").attempt(A)
    assert_changed()


@pytest.mark.accept("V7")
def test_a_run_that_begins_later_appears_and_an_older_one_does_not(tmp_path: Path) -> None:
    old = RunDesk(tmp_path, "old")
    old.attempt(A, start=T0)
    run = RunDesk(tmp_path, "run")
    run.attempt(A, start=T0 + 100)
    newest = all_runs([str(tmp_path)])[-1]
    source = E2eSource(Choice((newest,), "title", follow=str(tmp_path)))
    assert [one.id for one in source.index().runs] == ["run"]
    RunDesk(tmp_path, "next").attempt(A, start=T0 + 200)
    assert [one.id for one in source.index().runs] == ["next", "run"]


def test_runs_are_meant_by_name_folder_or_folder_of_runs(tmp_path: Path) -> None:
    runs = [RunDesk(tmp_path / "here", name) for name in ("one", "two")]
    for run in runs:
        run.attempt(A)
    here = str(tmp_path / "here")
    assert [run.id for run in chosen_runs(["two", "one"], [here])] == ["two", "one"]
    assert [run.id for run in chosen_runs([f"{here}/two"], [])] == ["two"]
    assert {run.id for run in chosen_runs([here, "one"], [here])} == {"one", "two"}
    with pytest.raises(NoSuchRunError) as caught:
        chosen_runs(["three"], [here])
    assert set(caught.value.known) == {"one", "two"}


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    runs = [RunDesk(tmp_path / place, "same") for place in ("a", "b")]
    for run in runs:
        fill(run, A)
    chunks = chunks_of(page_of(source_of(*runs), tmp_path / "page.html"))
    assert [run["id"] for run in chunks["index"]["runs"]] == ["same", "same (2)"]
    assert len(chunks) == 5
