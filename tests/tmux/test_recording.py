"""Terminals are recorded completely, with their times, at no cost to the agents."""

import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.needs import needs
from tests.tmux.stage import Stage, is_alive, path_without

from mngr import process
from mngr.errors import NotFoundError
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S
from mngr.tmux.pane import AgentPane, look, paste
from mngr.tmux.recording import PaneRecording, read_recording, to_asciicast

LATE_S = 10.0
"""How late a busy machine may date a byte; on a quiet one it is 0.2 s."""

# gawk is tried where it is: installing it would change the machine's awk.
AWKS = ["mawk", "busybox", *(["gawk"] if shutil.which("gawk") else [])]


def read_cast(data: bytes) -> tuple[dict[str, Any], list[tuple[float, str]]]:
    head, *events = data.splitlines()
    header = msgspec.json.decode(head)
    assert header["version"] == 2
    return header, [(at, text) for at, kind, text in map(msgspec.json.decode, events) if kind == "o"]


def cast_of(stage: Stage, name: str = "a") -> tuple[dict[str, Any], list[tuple[float, str]]]:
    spec = stage.specs[name]
    return read_cast(read_recording(stage.host, spec, spec.created_at))


def shown(stage: Stage, name: str = "a") -> str:
    return "".join(text for _, text in cast_of(stage, name)[1])


def processes_with(text: str) -> list[int]:
    """Processes that name `text` in their command line or hold it as their directory."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{entry}/cmdline").read_bytes().decode(errors="replace")
            folder = os.readlink(f"/proc/{entry}/cwd")
        except OSError:
            continue
        if (text in words or folder.startswith(text)) and is_alive(int(entry)):
            found.append(int(entry))
    return found


def index_writers(stage: Stage) -> list[int]:
    """The writers' own shells: `sh FILE.index` in a session of their own."""
    return [pid for pid in processes_with(f"{stage.paths.tmux}/mngr-") if is_writer(pid)]


def is_writer(pid: int) -> bool:
    try:
        return os.getsid(pid) == pid and b".index" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (ProcessLookupError, FileNotFoundError):
        return False


def is_dated(pane: AgentPane) -> bool:
    """Whether the index has caught up with the raw bytes."""
    raw, times = Path(pane.agent.raw), Path(pane.agent.raw_times)
    return raw.exists() and times.exists() and times.read_text().split()[-1:] == [str(raw.stat().st_size)]


@pytest.mark.accept("K15")
def test_a_recording_has_every_byte_from_the_first_on(stage: Stage) -> None:
    pane = stage.shell("seq 20000; echo over; exec cat", record=True)
    assert wait_until(lambda: "over" in shown(stage), PATIENCE_S)
    assert shown(stage).split() == [*map(str, range(1, 20001)), "over"]
    assert look(pane).alive


@pytest.mark.accept("K15")
@pytest.mark.parametrize("awk", AWKS)
def test_each_byte_is_dated_in_the_order_of_the_program(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, awk: str
) -> None:
    use_awk(stage, monkeypatch, awk)
    pane = stage.shell("for word in one two three; do echo $word; sleep 2; done; exec cat", record=True)
    assert wait_until(lambda: "three" in shown(stage) and is_dated(pane), PATIENCE_S)
    when = {text.split()[0]: at for at, text in cast_of(stage)[1]}
    assert list(when) == ["one", "two", "three"]
    for earlier, later in (("one", "two"), ("two", "three")):
        assert 0.5 < when[later] - when[earlier] < 2 + LATE_S


@pytest.mark.accept("K15")
def test_a_date_that_knows_whole_seconds_only_still_dates(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_first(
        stage,
        monkeypatch,
        "date",
        'case "$*" in +%s.%N) date=$(/bin/date +%s); echo "$date.N" ;; *) exec /bin/date "$@" ;; esac',
    )
    pane = stage.shell("echo one; sleep 3; echo two; exec cat", record=True)
    assert wait_until(lambda: "two" in shown(stage) and is_dated(pane), PATIENCE_S)
    when = {text.split()[0]: at for at, text in cast_of(stage)[1]}
    assert 0.5 < when["two"] - when["one"] < 3 + LATE_S
    assert -1 < when["one"] < LATE_S


@pytest.mark.accept("K15")
def test_bytes_that_are_not_text_become_replacements(stage: Stage) -> None:
    stage.shell(r"printf 'a\377\376b \303'; sleep 0.5; printf '\274 end'; exec cat", record=True)
    assert wait_until(lambda: "end" in shown(stage), PATIENCE_S)
    assert shown(stage) == "a\ufffd\ufffdb ü end"


@pytest.mark.accept("K15", "S5")
@pytest.mark.slow
def test_twenty_agents_share_one_writer_and_no_python_which_ends_with_them(stage: Stage) -> None:
    panes = [stage.shell("echo up; exec cat >/dev/null", name=f"a{n}", record=True) for n in range(20)]
    assert wait_until(lambda: all(map(is_dated, panes)), PATIENCE_S)
    assert len(index_writers(stage)) == 1
    ours = processes_with(str(stage.folder))
    assert not [pid for pid in ours if "python" in os.readlink(f"/proc/{pid}/exe")]
    for pane in panes:
        stage.tmux("kill-session", "-t", f"={pane.session}")
    assert wait_until(lambda: not index_writers(stage), PATIENCE_S)


@pytest.mark.accept("K15")
@pytest.mark.parametrize("has_flock", [True, False], ids=["flock", "mkdir"])
def test_a_writer_whose_predecessor_was_killed_dates_on(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, has_flock: bool
) -> None:
    if not has_flock:
        monkeypatch.setenv("PATH", path_without(stage.folder / "bin", "flock"))
    first = stage.shell("echo up; exec cat", record=True)
    assert wait_until(lambda: is_dated(first), PATIENCE_S)
    before = Path(first.agent.raw_times).read_text()
    for pid in index_writers(stage):
        os.killpg(pid, 9)
    assert wait_until(lambda: not index_writers(stage), PATIENCE_S)
    second = stage.shell("echo up; exec cat", name="b", record=True)
    assert wait_until(lambda: is_dated(second), PATIENCE_S)
    assert len(index_writers(stage)) == 1
    assert Path(first.agent.raw_times).read_text() == before


@pytest.mark.accept("K15")
def test_the_writer_goes_when_the_last_recorded_program_has_ended(stage: Stage) -> None:
    stage.shell("exec cat", name="unrecorded")
    pane = stage.shell("echo up; sleep 0.2", record=True)
    assert wait_until(lambda: is_dated(pane), PATIENCE_S)
    assert wait_until(lambda: not index_writers(stage), PATIENCE_S)
    assert "up" in shown(stage)


@pytest.mark.accept("K15")
def test_an_agent_goes_on_when_its_recorder_is_killed(stage: Stage) -> None:
    pane = stage.shell("exec cat >out", record=True)
    recorders = [pid for pid in processes_with("cat") if writes_to(pid, pane.agent.raw)]
    assert len(recorders) == 1
    os.kill(recorders[0], 9)
    assert wait_until(lambda: not is_alive(recorders[0]), PATIENCE_S)
    assert paste(pane, b"still here", enter=True).alive
    assert stage.file("out", 11) == b"still here\n"


@pytest.mark.accept("K15")
def test_an_agent_goes_on_when_its_recording_cannot_be_written(stage: Stage) -> None:
    needs(
        "root, to mount a small tmpfs",
        "sh",
        "-c",
        f"mkdir -p {stage.folder}/h && mount -t tmpfs -o size=256k none {stage.folder}/h",
    )
    try:
        script = "until [ -e go ]; do sleep 0.02; done; head -c 2000000 /dev/zero | tr '\\0' x; echo; exec cat >out"
        pane = stage.shell(script, record=True)
        (stage.folder / "go").touch()
        assert wait_until(lambda: os.statvfs(stage.host.dir).f_bavail == 0, PATIENCE_S)
        assert paste(pane, b"still here", enter=True).alive
        assert stage.file("out", 11) == b"still here\n"
    finally:
        stage.close()
        wait_until(lambda: not processes_with(stage.host.dir), PATIENCE_S)
        process.run(("umount", stage.host.dir)).check("umount")


def test_no_recording_is_said_with_what_to_do(stage: Stage) -> None:
    stage.shell("exec cat")
    with pytest.raises(NotFoundError) as caught:
        cast_of(stage)
    assert "--record" in caught.value.hint


def test_a_recording_with_nothing_in_it_is_a_cast_without_output() -> None:
    header, events = read_cast(to_asciicast(PaneRecording(b"", b"", 1000.0, 1000.0, "quiet")))
    assert (header["title"], header["timestamp"], header["width"], events) == ("quiet", 1000, 200, [])


def test_what_the_index_does_not_date_comes_when_the_file_was_last_written() -> None:
    recording = PaneRecording(b"onetwo", b"1001.5 3\n", 1000.0, 1004.25)
    assert read_cast(to_asciicast(recording))[1] == [(1.5, "one"), (4.25, "two")]


def test_a_clock_that_jumps_back_never_makes_a_time_run_backwards() -> None:
    recording = PaneRecording(b"abc", b"1005 1\n1001 2\ntorn\n1006 3\n", 1000.0, 900.0)
    assert read_cast(to_asciicast(recording))[1] == [(5, "a"), (5, "b"), (6, "c")]


@pytest.mark.accept("Q7")
@given(raw=st.binary(max_size=200), sizes=st.lists(st.integers(0, 250), max_size=8))
def test_any_bytes_cut_anywhere_become_the_same_text(raw: bytes, sizes: list[int]) -> None:
    times = b"".join(b"%d %d\n" % (1000 + n, size) for n, size in enumerate(sorted(sizes)))
    _, events = read_cast(to_asciicast(PaneRecording(raw, times, 1000.0, 2000.0)))
    assert "".join(text for _, text in events) == raw.decode("utf-8", "replace")
    assert [at for at, _ in events] == sorted(at for at, _ in events)


def use_awk(stage: Stage, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    argv = ("busybox", "awk") if name == "busybox" else (name,)
    put_first(stage, monkeypatch, "awk", f'exec {" ".join(argv)} "$@"')


def put_first(stage: Stage, monkeypatch: pytest.MonkeyPatch, name: str, script: str) -> None:
    """A program of our own before the machine's on PATH."""
    folder = stage.folder / "first"
    folder.mkdir()
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def writes_to(pid: int, path: str) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/fd/1") == path
    except OSError:
        return False
