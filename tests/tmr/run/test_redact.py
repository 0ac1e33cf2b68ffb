"""Values of variables leave no trace in what comes home."""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from tests.support.world import World
from tests.tmr.run.pipeline import KNOBS, UNCHANGED, Pipeline

from mngr_e2e.recorder.cast import parse_cast, text
from mngr_tmr.model.verdict import TestRun, Verified
from mngr_tmr.run.redact import Redactor, make_redactor

pytestmark = pytest.mark.accept("Q6")

TOKEN = 'tok-7c1f"\\é-end'
REDACTOR = Redactor({"TOKEN": TOKEN, "LONGER": TOKEN + "-and-more"})


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.end()


def test_a_value_is_found_however_json_writes_it(tmp_path: Path) -> None:
    for number, ascii in enumerate((True, False)):
        (tmp_path / f"{number}.json").write_text(json.dumps({"a": f"x{TOKEN}y"}, ensure_ascii=ascii))
    (tmp_path / "plain.txt").write_text(f"one {TOKEN}-and-more two {TOKEN}")
    REDACTOR.files(str(tmp_path))
    assert json.loads((tmp_path / "0.json").read_text()) == {"a": "x[hidden TOKEN]y"}
    assert json.loads((tmp_path / "1.json").read_text()) == {"a": "x[hidden TOKEN]y"}
    assert (tmp_path / "plain.txt").read_text() == "one [hidden LONGER] two [hidden TOKEN]"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 15, 200])
def test_a_value_in_pieces_is_found_in_a_recording(size: int) -> None:
    said = f"\x1b[1mhello {TOKEN}{TOKEN} and {TOKEN}-and-more\r\n"
    pieces = [said[at : at + size] for at in range(0, len(said), size)]
    lines: list[object] = [{"version": 2, "width": 80, "height": 24, "title": TOKEN}]
    lines += [[number / 10, "o", piece] for number, piece in enumerate(pieces)]
    lines.insert(3, [0.15, "i", f"typed {TOKEN}"])
    cast = parse_cast(REDACTOR.cast(b"\n".join(map(msgspec.json.encode, lines)) + b"\n"))
    assert text(cast) == "\x1b[1mhello [hidden TOKEN][hidden TOKEN] and [hidden LONGER]\r\n"
    assert [event.data for event in cast.events if event.kind == "i"] == ["typed [hidden TOKEN]"]
    assert len(cast.events) == len(pieces) + 1


def test_names_links_and_modes_of_files(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    inner = folder / f"in-{TOKEN}"
    inner.mkdir(parents=True)
    (inner / f"{TOKEN}.log").write_bytes(b"\xff\0" + TOKEN.encode() + b"\xfe")
    (inner / f"{TOKEN}.log").chmod(0o755)
    (folder / "link").symlink_to(f"in-{TOKEN}")
    (folder / "kept").symlink_to("elsewhere")
    (folder / "empty").write_bytes(b"")
    os.mkfifo(folder / "fifo")
    REDACTOR.files(str(folder))
    moved = folder / "in-[hidden TOKEN]" / "[hidden TOKEN].log"
    assert moved.read_bytes() == b"\xff\0[hidden TOKEN]\xfe"
    assert stat.S_IMODE(moved.stat().st_mode) == 0o755
    assert sorted(path.name for path in folder.iterdir()) == ["empty", "fifo", "in-[hidden TOKEN]", "kept"]


def test_a_record_keeps_its_kind() -> None:
    run = TestRun("a", "failed", 0.5, f"E  got {TOKEN}")
    verified = Verified("a", "c", "failed", TOKEN, (run,))
    clean = REDACTOR.record(verified)
    assert clean == Verified(
        "a", "c", "failed", "[hidden TOKEN]", (TestRun("a", "failed", 0.5, "E  got [hidden TOKEN]"),)
    )
    assert REDACTOR.record(run) == clean.runs[0]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text(TOKEN)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "link").symlink_to("../mine")
    REDACTOR.files(str(tmp_path / "out"))
    REDACTOR.files(str(tmp_path / "out" / "link"))
    REDACTOR.files(str(tmp_path / "nothing"))
    assert (tmp_path / "mine").read_text() == TOKEN


def test_short_and_public_values_are_no_secrets(world: World) -> None:
    (world.repo / "config.toml").write_text('stage = "production"\n')
    world.git("add", ".")
    world.git("commit", "-q", "-m", "config")
    head = world.git("rev-parse", "HEAD").strip()
    env = {"STAGE": "production", "FLAG": "yes", "KEY": "-----BEGIN\nproduction", "TOKEN": "f00dcafe"}
    redactor = make_redactor(env, str(world.repo), head)
    said = "production yes f00dcafe -----BEGIN\r\nproduction"
    assert redactor.text(said) == "production yes [hidden TOKEN] [hidden KEY]"
    assert make_redactor({"A": "b"}, str(world.repo), head).text("abc") == "abc"


@pytest.mark.parametrize("where", ["file", "message", "path", "gone again"])
def test_a_value_in_commits_is_named(world: World, where: str) -> None:
    base = world.git("rev-parse", "HEAD").strip()
    (world.repo / ("f00dcafe" if where == "path" else "new")).write_text(
        "f00dcafe" if where in ("file", "gone again") else "x"
    )
    world.git("add", ".")
    world.git("commit", "-q", "-m", "f00dcafe" if where == "message" else "more")
    if where == "gone again":
        world.git("rm", "-q", "new")
        world.git("commit", "-q", "-m", "clean")
    redactor = make_redactor({"TOKEN": "f00dcafe", "OTHER": "deadbeef"}, str(world.repo), base)
    tip = world.git("rev-parse", "HEAD").strip()
    assert redactor.names_in_commits(str(world.repo), base, tip) == ("TOKEN",)
    assert redactor.names_in_commits(str(world.repo), base, base) == ()


@pytest.mark.slow
def test_a_step_that_fails_and_a_test_that_prints_tell_no_value(pipeline: Pipeline) -> None:
    knobs = replace(KNOBS, setup='if [ -e shown ]; then echo "$TOKEN" >&2; exit 9; fi')
    spec = pipeline.spec({"test_a": [UNCHANGED]}, knobs)
    pipeline.project.commit(tests__test_it="import os\ndef test_a(): assert not os.environ['TOKEN']\n")
    first = pipeline.folder(replace(spec, base=pipeline.project.head()))
    pipeline.go(first, env={"TOKEN": "f00dcafe"})
    before = pipeline.records(first)["test_a"].before
    assert before is not None
    assert "[hidden TOKEN]" in before.reason
    (pipeline.project.repo / "shown").write_text("")
    second = pipeline.folder(replace(spec, id="r2", base=pipeline.project.commit()))
    pipeline.go(second, env={"TOKEN": "f00dcafe"})
    assert "[hidden TOKEN]" in pipeline.records(second)["test_a"].message
    for folder in (first, second):
        files = [path for path in Path(folder.path).rglob("*") if path.is_file()]
        assert [path for path in files if b"f00dcafe" in path.read_bytes()] == []
