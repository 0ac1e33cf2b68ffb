"""`mngr e2e view|runs`, run for real."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cli.command import Mngr
from tests.e2e_kit.tutorial.desk import citing
from tests.e2e_kit.view.desk import T0, RunDesk, record, write_cast, write_records
from tests.support.needs import needs
from tests.view.desk import chunks_of

from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S
from mngr_e2e.tutorial.blocks import block_id
from mngr_view.template import TEMPLATE

A, B = "tests/e2e/test_a.py::test_help", "tests/e2e/test_a.py::test_two"
BLOCK = "# see what there is\nmngr --help"
SUITE = """
from mngr_e2e import expect

def test_breaks(e2e):
    screen = e2e.terminal("cat", name="shell")
    screen.type("on the screen\\n")
    screen.wait_for("on the screen\\non the screen")
    result = e2e.run("echo out; echo err >&2; exit 3", comment="this one fails")
    expect(result).to_succeed()
"""


@pytest.fixture(autouse=True)
def _page_is_built() -> None:
    needs("the built page (make web)", "test", "-f", TEMPLATE)


@pytest.fixture
def artifacts(mngr: Mngr) -> Path:
    """Two runs, the newer with a failure."""
    path = mngr.world.repo / ".mngr" / "e2e"
    old, new = RunDesk(path, "nightly-1"), RunDesk(path, "nightly-2")
    old.attempt(A, "passed", start=T0)
    folder = new.attempt(A, "failed", start=T0 + 1000)
    new.attempt(B, "passed", start=T0 + 1002)
    write_records(folder, record("mngr --help", T0 + 1001, (0.0, "Usage\n")))
    write_cast(folder, "1-shell.cast", T0 + 1000, (0.5, "hello"))
    os.utime(old.path, (T0, T0))
    os.utime(new.path, (T0 + 1000, T0 + 1000))
    return path


@pytest.mark.slow
@pytest.mark.accept("V1", "V2", "V6", "F17")
def test_a_failing_test_can_be_understood_from_the_page_alone(mngr: Mngr, tmp_path: Path) -> None:
    repo = mngr.world.repo
    (repo / "test_it.py").write_text(SUITE)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
        cwd=repo,
        env=mngr.env,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 1, ran.stdout
    mngr.ok("e2e", "view", "--html", "page.html")
    chunks = chunks_of((repo / "page.html").read_bytes())
    ((test,),) = [run["tests"] for run in chunks["index"]["runs"]]
    assert (test["id"], test["status"]) == ("test_it.py::test_breaks", "failed")
    detail = chunks[test["attempts"][0]["chunk"]]
    (command,) = [one for one in detail["commands"] if one["comment"] == "this one fails"]
    assert command["exit_code"] == 3
    assert {piece["stream"]: piece["text"] for piece in command["output"]} == {
        "stdout": "out\n",
        "stderr": "err\n",
    }
    (cast,) = detail["casts"]
    assert "on the screen" in chunks[cast["chunk"]]
    (seek,) = command["seeks"]
    assert cast["start"] + seek["second"] == pytest.approx(command["start"], abs=0.01)


@pytest.mark.accept("V3")
def test_without_a_name_it_is_the_newest_run_and_says_which(mngr: Mngr, artifacts: Path) -> None:
    done = mngr.ok("e2e", "view", "--html", "out.html")
    assert done.stdout == "out.html\n"
    assert "the newest run: nightly-2\n" in done.stderr
    assert "nightly-2: 1 failed, 1 passed" in done.stderr
    page = (mngr.world.repo / "out.html").read_bytes()
    assert b"<title>nightly-2" in page
    assert [run["id"] for run in chunks_of(page)["index"]["runs"]] == ["nightly-2"]


@pytest.mark.accept("V3")
def test_several_runs_make_one_page(mngr: Mngr, artifacts: Path) -> None:
    mngr.ok("e2e", "view", "--all", "--html", "all.html")
    mngr.ok("e2e", "view", "nightly-1", str(artifacts / "nightly-2"), "--html", "two.html")
    for name in ("all.html", "two.html"):
        index = chunks_of((mngr.world.repo / name).read_bytes())["index"]
        assert [run["id"] for run in index["runs"]] == ["nightly-2", "nightly-1"]


def test_a_dash_is_stdout_and_nothing_else_is_there(mngr: Mngr, artifacts: Path) -> None:
    done = mngr.ok("e2e", "view", "nightly-2", "--html", "-")
    assert done.stdout.startswith("<!doctype html>")
    assert done.stdout.rstrip().endswith("</html>")
    assert len(chunks_of(done.stdout.encode())) == 4


def test_an_unknown_run_names_the_nearest(mngr: Mngr, artifacts: Path) -> None:
    done = mngr("e2e", "view", "nightly2", "--html", "x.html")
    assert (done.code, done.stdout) == (4, "")
    assert 'error: no run "nightly2"' in done.stderr
    assert 'hint: did you mean "nightly-2"?' in done.stderr
    assert "nightly-2, nightly-1" in mngr("e2e", "view", "zzz", "--html", "x.html").stderr
    assert not (mngr.world.repo / "x.html").exists()


def test_no_runs_at_all_says_how_to_get_one(mngr: Mngr) -> None:
    done = mngr("e2e", "view", "--html", "x.html")
    assert done.code == 4
    assert "fixture e2e" in done.stderr
    assert mngr("e2e", "view", "--artifacts", "none", "--html", "x.html").code == 4
    assert mngr.ok("e2e", "runs", "--json").json == {"schema": 1, "runs": []}


def test_a_folder_is_not_overwritten(mngr: Mngr, artifacts: Path) -> None:
    done = mngr("e2e", "view", "--html", ".")
    assert done.code == 1
    assert "is a folder" in done.stderr
    assert "hint: name a file" in done.stderr


def test_runs_lists_the_newest_first_with_counts(mngr: Mngr, artifacts: Path) -> None:
    lines = mngr.ok("e2e", "runs").stdout.splitlines()
    assert re.fullmatch(r"nightly-2  \d{4}-\d\d-\d\d \d\d:\d\d +12\.0 s  1 failed, 1 passed", lines[0])
    assert lines[1].startswith("nightly-1 ")
    records = mngr.ok("e2e", "runs", "--json").json["runs"]
    assert [(one["name"], one["tests"], one["counts"]["failed"]) for one in records] == [
        ("nightly-2", 2, 1),
        ("nightly-1", 1, 0),
    ]
    assert records[0]["path"] == str(artifacts.resolve() / "nightly-2")


@pytest.mark.accept("Y15")
def test_the_page_has_the_tutorial_with_its_tests(mngr: Mngr, artifacts: Path) -> None:
    repo = mngr.world.repo
    (repo / "other.sh").write_text(f"#!/bin/sh\n\n{BLOCK}\n")
    (repo / "tests" / "e2e").mkdir(parents=True)
    (repo / "tests" / "e2e" / "test_a.py").write_text(citing("help", BLOCK, "mngr --help"))
    mngr.ok("e2e", "view", "--html", "out.html", "--tutorial", "other.sh")
    ((run,),) = [chunks_of((repo / "out.html").read_bytes())["index"]["runs"]]
    (block,) = [one for one in run["tutorial"]["blocks"] if one["kind"] == "command"]
    assert (block["id"], block["text"], block["tests"]) == (block_id(BLOCK), BLOCK, [A])
    assert {test["id"]: test["blocks"] for test in run["tests"]} == {A: [block_id(BLOCK)], B: []}
    missing = mngr("e2e", "view", "--html", "out.html", "--tutorial", "none.sh")
    assert missing.code == 2
    assert "none.sh" in missing.stderr


@pytest.mark.accept("V7", "Q6")
def test_served_live_it_prints_its_address_and_shows_what_happens(mngr: Mngr, artifacts: Path) -> None:
    process = mngr.start("e2e", "view", "--no-open")
    try:
        assert process.stdout
        url = process.stdout.readline().decode().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{20,}/", url)
        assert b'name="mngr-live"' in get(url)
        assert [test["status"] for test in index_at(url)["runs"][0]["tests"]] == ["failed", "passed"]
        RunDesk(artifacts, "nightly-3").attempt(A, "passed", start=T0 + 2000)
        assert wait_until(lambda: len(index_at(url)["runs"]) == 2, PATIENCE_S)
        attempt = index_at(url)["runs"][1]["tests"][0]["attempts"][0]
        detail = msgspec.json.decode(get(f"{url}data/{attempt['chunk']}"))
        assert detail["commands"][0]["command"] == "mngr --help"
        assert b"hello" in get(f"{url}data/{detail['casts'][0]['chunk']}")
    finally:
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=PATIENCE_S)[1]
    assert process.returncode == 130
    assert b"Traceback" not in said


def test_a_page_can_be_served_before_there_is_a_run(mngr: Mngr) -> None:
    process = mngr.start("e2e", "view")
    try:
        assert process.stdout
        url = process.stdout.readline().decode().strip()
        assert index_at(url)["runs"] == []
        RunDesk(mngr.world.repo / ".mngr" / "e2e", "first").attempt(A)
        assert wait_until(lambda: len(index_at(url)["runs"]) == 1, PATIENCE_S)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
        data: bytes = answer.read()
    return data


def index_at(url: str) -> Any:
    return msgspec.json.decode(get(f"{url}data/index"))


@pytest.mark.accept("Q16")
def test_the_token_is_on_our_terminal_and_in_no_command_line(
    mngr: Mngr, artifacts: Path, tmp_path: Path
) -> None:
    """TH-M8."""
    assert artifacts.exists()
    stub, argv = tmp_path / "browser", tmp_path / "argv"
    stub.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{argv}.new; mv {argv}.new {argv}\n')
    stub.chmod(0o755)
    terminal = mngr.terminal("e2e", "view", BROWSER=str(stub))
    terminal.wait_for("until Ctrl-C")
    found = re.search(r"http://127\.0\.0\.1:\d+/([\w-]{20,})/", terminal.shown)
    assert found
    assert wait_until(argv.exists, PATIENCE_S)
    assert argv.read_text().startswith("file:///")
    assert found[1] not in argv.read_text()
    terminal.type("\x03")
    assert terminal.end() == 130
