"""One look at a host, in every shell, however many agents, whatever their files hold."""

import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr.model.agent import AgentSpec
from mngr.model.event import Event, encode_event
from mngr.model.ids import new_agent_id
from mngr.process import run
from mngr.store.fold import Folded, encode_fold
from mngr.store.paths import HostPaths
from mngr.store.probe import HostEvidence, probe_argv, read_probe
from mngr.store.untrusted import fold_bytes
from mngr.testing.waiting import PATIENCE_S

SHELLS = [("dash",), ("busybox", "sh"), ("bash",)]


class Files:
    """Agents as files only."""

    def __init__(self, folder: Path) -> None:
        self.paths = HostPaths(str(folder))
        os.makedirs(self.paths.agents)

    def agent(self, name: str, log: bytes = b"", **fields: object) -> str:
        agent_id = new_agent_id()
        own = self.paths.agent(agent_id)
        os.makedirs(own.outbox)
        spec = AgentSpec(agent_id, name, "command", ("true",), "/", 1.0)
        Path(own.spec).write_bytes(msgspec.json.encode(spec))
        Path(own.events).write_bytes(log)
        return agent_id

    def look(self, shell: tuple[str, ...] = ("sh",)) -> HostEvidence:
        argv = probe_argv(self.paths)
        return read_probe(run([*shell, *argv[1:]], timeout_s=PATIENCE_S).stdout)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path / "h o's t")


def lines(count: int) -> bytes:
    return b"".join(
        encode_event(Event(float(n), "labelled", {"labels": {"n": str(n)}})) + b"\n" for n in range(count)
    )


@pytest.mark.parametrize("shell", SHELLS, ids="-".join)
@pytest.mark.accept("K19")
def test_sees_specs_logs_folds_results_and_processes(shell: tuple[str, ...], files: Files) -> None:
    small, big, folded = (
        files.agent("small", lines(3)),
        files.agent("big", lines(500)),
        files.agent("folded", lines(500)),
    )
    half = fold_bytes(Folded(), lines(400))
    Path(files.paths.agent(folded).fold).write_bytes(encode_fold(half))
    Path(files.paths.agent(small).result).write_text("{}")
    stat = Path("/proc/self/stat").read_text()
    Path(files.paths.agent(small).pid).write_text(f"{os.getpid()} - {stat}")
    seen = {evidence.id: evidence for evidence in files.look(shell).agents}
    assert seen[small].folded.labels == {"n": "2"}
    assert seen[small].result
    assert seen[small].alive
    assert not seen[big].alive
    for agent_id in (big, folded):
        assert seen[agent_id].folded.labels == {"n": "499"}
        assert seen[agent_id].folded.offset == len(lines(500))
    assert seen[folded].tail_bytes == len(lines(500)) - half.offset


def test_a_process_with_the_same_number_and_another_start_is_not_ours(files: Files) -> None:
    agent_id = files.agent("a")
    fields = Path("/proc/self/stat").read_text().split()
    fields[21] = "1"
    Path(files.paths.agent(agent_id).pid).write_text(f"{os.getpid()} - {' '.join(fields)}")
    assert not files.look().agents[0].alive


@pytest.mark.accept("K7")
@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xfe\0\0", b'{"id": 3}', b"[]"])
def test_a_corrupt_record_is_a_gap_in_a_row_never_a_missing_row(files: Files, damage: bytes) -> None:
    agent_id, sound = files.agent("a", lines(2)), files.agent("b")
    Path(files.paths.agent(agent_id).spec).write_bytes(damage)
    seen = {evidence.id: evidence for evidence in files.look().agents}
    assert seen[agent_id].spec is None
    assert seen[sound].spec is not None


def test_no_host_dir_is_no_agents(tmp_path: Path) -> None:
    done = run(probe_argv(HostPaths(str(tmp_path / "none"))))
    assert (done.code, read_probe(done.stdout).agents) == (0, ())


@pytest.mark.accept("S4")
def test_the_number_of_processes_does_not_grow_with_agents(files: Files, tmp_path: Path) -> None:
    def execs() -> int:
        log = tmp_path / "trace"
        run(
            ["strace", "-f", "-e", "trace=execve,clone,vfork,fork", "-o", str(log), *probe_argv(files.paths)],
            timeout_s=60,
        )
        return sum(
            line.split(None, 1)[1].startswith(("clone", "vfork", "fork"))
            for line in log.read_text().splitlines()
        )

    files.agent("first", lines(3))
    one = execs()
    for n in range(60):
        files.agent(f"more-{n}", lines(3))
    assert len(files.look().agents) == 61
    assert execs() == one


@pytest.mark.accept("Q7")
@given(st.lists(st.binary(max_size=60)))
def test_any_output_is_read_without_an_error(output: list[bytes]) -> None:
    prefix = b"agent-" + b"a" * 32
    text = b"\n".join(part.replace(b"@", prefix) for part in output)
    read_probe(text)
    read_probe(b"B x 12\nD " + prefix + b"\n" + text)
