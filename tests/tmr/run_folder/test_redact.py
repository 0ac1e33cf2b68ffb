"""Values of variables leave no trace in what comes home."""

import gzip
import json
import os
import random
import re
import stat
import time
import traceback
import zipfile
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from tests.support.world import World
from tests.tmr.canary import SPELLINGS, holds
from tests.tmr.run.pipeline import KNOBS, UNCHANGED, Pipeline

import mngr
from mngr_e2e.recorder.cast import parse_cast, text
from mngr_tmr.engine.journal import Journal
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import make_task
from mngr_tmr.model.verdict import TestRun, Verified
from mngr_tmr.run.steps import refuse_leaks
from mngr_tmr.run_folder.attempt import PulledAttempt
from mngr_tmr.run_folder.folder import RunFolder, make_folder
from mngr_tmr.run_folder.matching import views
from mngr_tmr.run_folder.redact import Redactor, make_redactor, no_values_in_errors, refuse_test_ids
from mngr_tmr.run_folder.writer import RunWriter

pytestmark = pytest.mark.accept("Q6")

TOKEN = 'tok-7c1f"\\é-end'
REDACTOR = Redactor({"TOKEN": TOKEN, "LONGER": TOKEN + "-and-more"})


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.end()


def take_in(folder: Path) -> Path:
    """What the writer makes of a folder that an agent filled."""
    target = folder.with_name("taken")
    RunWriter(str(folder.parent), REDACTOR).take_in(str(folder), str(target))
    return target


def test_a_value_is_found_however_json_writes_it(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number, ascii in enumerate((True, False)):
        (folder / f"{number}.json").write_text(json.dumps({"a": f"x{TOKEN}y"}, ensure_ascii=ascii))
    (folder / "plain.txt").write_text(f"one {TOKEN}-and-more two {TOKEN}")
    taken = take_in(folder)
    assert json.loads((taken / "0.json").read_text()) == {"a": "x[hidden TOKEN]y"}
    assert json.loads((taken / "1.json").read_text()) == {"a": "x[hidden TOKEN]y"}
    assert (taken / "plain.txt").read_text() == "one [hidden LONGER] two [hidden TOKEN]"


@pytest.mark.accept("Q13")
@pytest.mark.parametrize("name", sorted(SPELLINGS))
def test_a_value_is_found_in_every_spelling(name: str) -> None:
    """TH-H5: also in an encoding, behind escapes, or in pieces that a reader does not see as such."""
    spelt = SPELLINGS[name](TOKEN)
    clean = REDACTOR.text(f"before {spelt} after")
    assert "[hidden TOKEN]" in clean
    assert clean.startswith("before ")
    assert clean.endswith(" after")
    assert holds(clean, TOKEN) == []
    assert REDACTOR.data(f"before {spelt} after".encode(errors="surrogateescape")) == clean.encode()


@pytest.mark.accept("Q13")
@pytest.mark.parametrize(
    "name", sorted(SPELLINGS.keys() - {"latin-1"})
)  # which is no text that JSON can hold
def test_a_value_is_found_in_a_document_that_holds_it_nowhere_else(name: str, tmp_path: Path) -> None:
    """TH-H5: JSON escapes a spelling that has escapes of its own once more."""
    spelt = SPELLINGS[name](TOKEN)
    record, folder = {"a": ["x", {"b": spelt}]}, tmp_path / "in"
    folder.mkdir()
    (folder / "one.json").write_text(json.dumps(record))
    (folder / "lines.jsonl").write_text(f"{json.dumps(record)}\nno JSON\n{json.dumps([spelt])}\n")
    taken = take_in(folder)
    lines = (taken / "lines.jsonl").read_text().splitlines()
    written: list[str | bytes] = [
        REDACTOR.json(record),
        (taken / "one.json").read_bytes(),
        lines[0],
        lines[2],
    ]
    for document in written:
        assert [text for text in texts(json.loads(document)) if holds(text, TOKEN)] == []
        assert "[hidden TOKEN]" in str(document)
    assert lines[1] == "no JSON"


def texts(value: object) -> list[str]:
    """The strings of a decoded document."""
    if isinstance(value, str):
        return [value]
    inner = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for each in inner for text in texts(each)]


@pytest.mark.accept("Q13")
@pytest.mark.parametrize("shift", [0, 1, 2])
def test_a_value_is_found_in_base64_at_every_alignment(shift: int) -> None:
    for encode in (b64encode, urlsafe_b64encode):
        spelt = encode(b"x" * shift + TOKEN.encode() + b"more of it").decode()
        clean = REDACTOR.text(f"basic {spelt}")
        assert "[hidden TOKEN]" in clean
        assert holds(clean, TOKEN) == []


@pytest.mark.accept("Q13")
def test_a_find_in_a_view_is_the_same_place_in_the_text() -> None:
    """The quick ways to make a view leave out exactly what the patterns say, on which the places depend."""
    signs = [
        "a",
        " ",
        "\t",
        "\r",
        "\n",
        "|",
        "\u2502",
        "\x1b",
        "[3",
        "m",
        "\x00",
        "\u200b",
        "\\",
        "u0041",
        "%41",
        "é",
    ]
    randomly = random.Random(7)
    for _ in range(500):
        text = "".join(randomly.choices(signs, k=randomly.randrange(12)))
        for view in views(text):
            if view.change and view.parent:
                assert view.change.pattern.sub(view.change.replace, view.parent.text) == view.text, repr(text)
        hidden = text + f"\x1b[1m{TOKEN[:5]}\x1b[0m{TOKEN[5:]}" + text
        clean = REDACTOR.text(hidden)
        assert holds(clean, TOKEN) == [], repr(text)


@pytest.mark.accept("Q13")
@pytest.mark.parametrize("window", [20_000, 70_011, 1 << 20])
def test_a_value_across_pieces_of_a_stream_is_found(window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mngr_tmr.run_folder.redact._WINDOW", window)
    text = (f"{'x' * 70_000}{TOKEN}{'é' * 3_000}" * 4 + TOKEN).encode()
    pieces = [text[at : at + 777] for at in range(0, len(text), 777)]
    assert b"".join(REDACTOR.stream(pieces)) == text.replace(TOKEN.encode(), b"[hidden TOKEN]")


@pytest.mark.accept("Q13")
def test_a_large_recording_takes_seconds() -> None:
    line = "\x1b[32mPASSED\x1b[0m tests/test_shop.py::test_total 100% \\n\r\n"
    events = [(number / 100, "o", line * 20) for number in range(2_000_000 // (20 * len(line)))]
    data = b"\n".join(map(msgspec.json.encode, events))
    started = time.process_time()
    assert REDACTOR.cast(data) == data
    # Two megabytes: a fraction of a second where nothing else runs, minutes if it grew with the square.
    assert time.process_time() - started < 10


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


@pytest.mark.accept("Q13", "Q16")
def test_names_links_and_modes_of_files(tmp_path: Path) -> None:
    """TH-H5: names are cleaned whatever they collide with; what is no plain file does not come in."""
    folder = tmp_path / "in"
    inner = folder / f"in-{TOKEN}"
    inner.mkdir(parents=True)
    (inner / f"{TOKEN}.log").write_bytes(b"\xff\0" + TOKEN.encode() + b"\xfe")
    (inner / f"{TOKEN}.log").chmod(0o755)
    (folder / "in-[hidden TOKEN]").mkdir()
    (folder / "in-[hidden TOKEN]" / "mine").write_text("x")
    (folder / (TOKEN + "-" * 225)).write_bytes(b"")
    (folder / "link").symlink_to(f"in-{TOKEN}")
    (folder / "inner").symlink_to("empty")
    (folder / "out").symlink_to("../elsewhere")
    (folder / "top").symlink_to("/etc/passwd")
    (folder / "empty").write_bytes(b"")
    os.mkfifo(folder / "fifo")
    (folder / "shut").mkdir(0o000)
    taken = take_in(folder)
    moved = taken / "in-[hidden TOKEN]-2" / "[hidden TOKEN].log"
    assert moved.read_bytes() == b"\xff\0[hidden TOKEN]\xfe"
    assert stat.S_IMODE(moved.stat().st_mode) == 0o700
    names = sorted(path.name for path in taken.iterdir() if "---" not in path.name)
    assert names == ["empty", "in-[hidden TOKEN]", "in-[hidden TOKEN]-2", "inner", "shut"]
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in taken.rglob("*") if path != moved}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


@pytest.mark.accept("Q13")
def test_an_archive_that_holds_a_value_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, words in (("bad.zip", TOKEN), ("good.zip", "fine")):
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("trace.txt", words * 100)
    (folder / "log.gz").write_bytes(gzip.compress(TOKEN.encode()))
    (folder / "torn.gz").write_bytes(gzip.compress(b"x" * 1000)[:20])
    taken = take_in(folder)
    assert (taken / "bad.zip").read_text() == "left out: it holds the value of TOKEN\n"
    assert (taken / "log.gz").read_text() == "left out: it holds the value of TOKEN\n"
    assert zipfile.is_zipfile(taken / "good.zip")
    assert (taken / "torn.gz").stat().st_size == 20


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
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to("../mine")
    take_in(tmp_path / "in")
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
    path = make_redactor({"HOME": str(world.repo.parent)}, str(world.repo), head)
    assert path.text(str(world.repo)) == str(world.repo)


SECRET = "f00d/cafe"


def plant(world: World, where: str) -> None:
    """Commits with the value in one place, and nowhere else."""
    repo = world.repo
    message = SECRET if where == "message" else "more"
    if where == "gone again":
        (repo / "new").write_text(SECRET)
        world.git("add", ".")
        world.git("commit", "-q", "-m", "more")
        (repo / "new").unlink()
    elif where in ("path", "folder", "copied file"):
        path = repo / {"path": "f00d/cafe", "folder": "in/f00d/cafe/x", "copied file": "f00d/cafe"}[where]
        path.parent.mkdir(parents=True)
        # The same content as a file of the base: git lists no new object but the folders.
        path.write_bytes(b"" if where != "copied file" else (repo / "old.txt").read_bytes())
    elif where == "link":
        (repo / "link").symlink_to(SECRET)
    elif where == "submodule":
        (repo / ".gitmodules").write_text(f'[submodule "x"]\n\tpath = x\n\turl = https://u:{SECRET}@host/x\n')
    elif where == "zip":
        with zipfile.ZipFile(repo / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a", SECRET * 9)
    else:
        (repo / "new").write_text(SECRET if where == "file" else "x")
    world.git("add", "-A")
    author = f"{SECRET} <a@b>" if where == "author" else "a <a@b>"
    world.git("commit", "-q", "--author", author, "-m", message)
    if where in ("gpgsig", "mergetag", "encoding", "committer"):
        headers, _, words = world.git("cat-file", "commit", "HEAD").partition("\n\n")
        if where == "committer":
            headers = re.sub("committer [^<]*", f"committer {SECRET} ", headers)
        else:
            headers += f"\n{where} -----BEGIN\n {SECRET}\n -----END"
        path = repo.parent / "commit"
        path.write_text(f"{headers}\n\n{words}")
        made = world.git("hash-object", "-t", "commit", "-w", "--literally", str(path)).strip()
        world.git("update-ref", "HEAD", made)


PLACES = ("file", "message", "path", "folder", "copied file", "gone again", "link", "author", "committer") + (
    "gpgsig",
    "mergetag",
    "encoding",
    "submodule",
    "zip",
)


@pytest.mark.accept("Q13")
def test_a_value_in_commits_is_named(world: World) -> None:
    """TH-H5: a commit is searched with its tree entries, names and headers."""
    (world.repo / "old.txt").write_text("of the base")
    world.git("add", "-A")
    world.git("commit", "-q", "-m", "base")
    repo, base = str(world.repo), world.git("rev-parse", "HEAD").strip()
    redactor = make_redactor({"TOKEN": SECRET, "OTHER": "deadbeef"}, repo, base)
    found = {}
    for place in PLACES:
        world.git("checkout", "-q", "-B", "work", base)
        plant(world, place)
        tip = world.git("rev-parse", "HEAD").strip()
        found[place] = redactor.names_in_commits(repo, base, tip)
    assert found == dict.fromkeys(PLACES, ("TOKEN",))
    assert redactor.names_in_commits(repo, base, base) == ()
    with pytest.raises(mngr.RefusedError) as refused:
        refuse_leaks(RunSpec("r1", repo, base, 0.0, (), ()), PulledAttempt(f"tmr/{SECRET}", tip), redactor)
    assert holds(str(refused.value) + refused.value.hint, SECRET) == []


@pytest.mark.accept("Q13")
def test_a_branch_named_after_a_value_is_refused(world: World) -> None:
    base = world.git("rev-parse", "HEAD").strip()
    redactor = make_redactor({"TOKEN": SECRET}, str(world.repo), base)
    spec = RunSpec("r1", str(world.repo), base, 0.0, (), ("pytest",))
    refuse_leaks(spec, PulledAttempt("tmr/r1/a", base), redactor)
    with pytest.raises(mngr.RefusedError):
        refuse_leaks(spec, PulledAttempt(f"tmr/r1/{SECRET}", base), redactor)
    named = replace(spec, tasks=(make_task(f"tests/test_a.py::test_a[{SECRET}]"),))
    with pytest.raises(mngr.RefusedError, match="the id of a collected test holds the value of TOKEN"):
        refuse_test_ids(named, redactor)


@pytest.mark.accept("Q13")
def test_errors_of_any_class_tell_no_value() -> None:
    """TH-H5: an OSError names the file it was about."""
    with (
        pytest.raises(mngr.NotFoundError, match=r"no \[hidden TOKEN\]") as ours,
        no_values_in_errors(REDACTOR),
    ):
        raise mngr.NotFoundError(f"no {TOKEN}", hint=f"see {TOKEN}")
    assert ours.value.hint == "see [hidden TOKEN]"
    with pytest.raises(mngr.MngrError, match=r"FileNotFoundError: .*\[hidden TOKEN\]") as other:
        with no_values_in_errors(REDACTOR):
            open(f"/nowhere/{TOKEN}").close()
    assert holds("".join(traceback.format_exception(other.value)).replace(__file__, ""), TOKEN) == []
    with pytest.raises(KeyError, match="mine"), no_values_in_errors(REDACTOR):
        raise KeyError("mine")


@pytest.mark.accept("Q16")
def test_a_runs_folder_is_closed_to_others(tmp_path: Path) -> None:
    """Run folders were 0755/0644: those of an older version are closed when something is written."""
    old = os.umask(0)
    try:
        spec = RunSpec("r1", str(tmp_path), "c", 0.0, (), ("pytest",))
        folder = make_folder(str(tmp_path / "runs"), spec)
        Journal(folder.journal).close()
        folder.writer.write(folder.file("a", 1, "prompt.md"), b"x")
        modes = [
            stat.S_IMODE(path.stat().st_mode) for path in [Path(folder.path), *Path(folder.path).rglob("*")]
        ]
        assert {oct(mode & 0o077) for mode in modes} == {"0o0"}
        for path in (Path(folder.path), Path(folder.path, "tasks"), Path(folder.spec)):
            path.chmod(0o755)
        RunFolder(folder.path).writer.write(folder.pr, b"x")
        modes = [
            stat.S_IMODE(path.stat().st_mode) for path in [Path(folder.path), *Path(folder.path).rglob("*")]
        ]
        assert {oct(mode & 0o077) for mode in modes} == {"0o0"}
    finally:
        os.umask(old)


@pytest.mark.accept("Q1", "Q13")
def test_what_a_killed_process_left_is_swept_up(tmp_path: Path) -> None:
    spec = RunSpec("r1", str(tmp_path), "c", 0.0, (), ("pytest",))
    folder = make_folder(str(tmp_path / "runs"), spec)
    (Path(folder.path) / ".incoming-999999999-x" / "outbox").mkdir(parents=True)
    (Path(folder.path) / ".new-999999999-x").write_text("half")
    (Path(folder.path) / "state.json.new.999999999.0123abcd").write_text("half")
    with folder.writer.staging() as mine:
        folder.writer.sweep()
        assert sorted(os.listdir(folder.path)) == sorted(("run.json", os.path.basename(mine)))


@pytest.mark.slow
def test_a_step_that_fails_and_a_test_that_prints_tell_no_value(pipeline: Pipeline) -> None:
    options = replace(KNOBS, setup='if [ -e shown ]; then echo "$TOKEN" >&2; exit 9; fi')
    spec = pipeline.spec({"test_a": [UNCHANGED]}, options)
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
