"""`mngr demo` as a newcomer meets it: the whole loop, again in the same folder, and Ctrl-C at any moment."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from tests.cli.command import ARGV, Done
from tests.tmr.test_example import EXPECTED

from mngr import process
from mngr.process import OnlyEnv, wait_until
from mngr.testing.waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]


class Newcomer:
    """Someone with an empty home and a temporary folder in which nothing may stay."""

    def __init__(self, folder: Path) -> None:
        self.home, self.temp, self.cwd = folder / "home", folder / "t", folder / "cwd"
        for path in (self.home, self.temp, self.cwd):
            path.mkdir()
        self.env = {
            "HOME": str(self.home),
            "TMPDIR": str(self.temp),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "TMUX": "/nowhere/tmux,1,1",
        }

    def __call__(self, *argv: str, cwd: Path | None = None) -> Done:
        ran = process.run(argv, timeout_s=2 * PATIENCE_S, env=OnlyEnv(self.env), cwd=str(cwd or self.cwd))
        return Done(ran.code, ran.stdout.decode(), ran.stderr.decode())

    def start(self, *words: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*ARGV, *words],
            env=self.env,
            cwd=self.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def left(self) -> list[str]:
        """Whatever a demo should have taken away: temporary files, a host dir at home, processes."""
        files = [str(path) for path in (*self.temp.iterdir(), *self.home.glob(".mngr*"))]
        lines = process.run(["ps", "-A", "-o", "args="]).text.splitlines()
        return files + [line for line in lines if f"{self.temp}/" in line]


@pytest.fixture
def newcomer(tmp_path: Path) -> Newcomer:
    return Newcomer(tmp_path)


@pytest.mark.slow
@pytest.mark.accept("U1", "Z3", "Z4", "M14", "L3")
def test_make_demo_runs_the_whole_loop_and_leaves_the_repository_the_run_and_the_page(
    newcomer: Newcomer,
) -> None:
    folder = newcomer.cwd / "my demo"
    done = newcomer("make", "--no-print-directory", "demo", f"DIR={folder}", cwd=ROOT)
    assert done.code == 0, done
    assert newcomer.left() == []
    assert "slots" in done.stderr
    assert re.search(r"^budget: 3M tokens; at most \d+k tokens more may be used$", done.stderr, re.MULTILINE)
    assert re.search(r"^budget: \S+ tokens of 3M tokens used$", done.stdout, re.MULTILINE)
    repo, (run,) = folder / "pantry", [*(folder / "pantry/.mngr/tmr").glob("demo-*")]
    assert {"journal.jsonl", "report.html", "summary.json", "pr.md"} <= {path.name for path in run.iterdir()}
    summary = msgspec.json.decode((run / "summary.json").read_bytes())
    sections = {row["test"].rpartition("::")[2]: row["section"] for row in summary["rows"]}
    both = dict.fromkeys(("test_total_adds_up", "test_total_in_euro"), "implementation")
    assert sections == {**EXPECTED, **both}, "both fixes that got in each other's way are in"
    page = Path(re.findall(r"^page: (.+)$", done.stdout, re.MULTILINE)[0])
    assert page == folder / "page.html"
    assert page.stat().st_size > 300_000
    log = newcomer("git", "log", "--oneline", "main..tmr/demo-1/integrated", cwd=repo).stdout.splitlines()
    assert len(log) == 5, "twin fixes are one commit"
    assert all(line in done.stdout for line in log)
    assert newcomer("git", "status", "--porcelain", cwd=repo).stdout == ""
    assert any(run.rglob("*.cast")), "agents and tests were recorded"
    _try_what_it_says(newcomer, repo, done.stdout)


def _try_what_it_says(newcomer: Newcomer, repo: Path, said: str) -> None:
    """The lines under `try next` but for those that serve or need a coding agent."""
    rows = dict(re.findall(r"^  (\w[\w ]+?)  +(\S.*)$", said.partition("try next:")[2], re.MULTILINE))
    assert newcomer("sh", "-c", rows["review"], cwd=repo).stdout.count("\ncommit ") == 4
    assert newcomer("sh", "-c", f"{rows['without a fix']} && git switch -q main", cwd=repo).code == 0
    assert newcomer("sh", "-c", rows["merge"], cwd=repo).code == 0


@pytest.mark.slow
@pytest.mark.accept("U1", "P11", "P12")
def test_an_interrupted_demo_leaves_nothing_running_and_the_next_one_starts_anew(newcomer: Newcomer) -> None:
    moments = (
        ((), "nothing to verify", 2),
        ((), "an agent for each test", 1),
        (("--dir", "other", "--no-keep"), "nothing to verify", 1),
    )
    for words, until, times in moments:
        demo = newcomer.start("demo", *words)
        seen = _read_until(demo, until)
        for _ in range(times):
            os.kill(demo.pid, signal.SIGINT)
        _, rest = demo.communicate(timeout=2 * PATIENCE_S)
        assert demo.returncode == 130, seen + rest
        assert newcomer.left() == []
    assert (newcomer.cwd / "mngr-demo/pantry/tutorial.sh").exists()
    assert not (newcomer.cwd / "other").exists()


def _read_until(demo: "subprocess.Popen[str]", word: str) -> str:
    assert demo.stderr
    seen = ""
    for line in demo.stderr:
        seen += line
        if word in line:
            break
    return seen


@pytest.mark.slow
@pytest.mark.accept("U1")
def test_what_a_killed_demo_left_goes_with_the_next_and_two_at_once_are_refused(newcomer: Newcomer) -> None:
    demo = newcomer.start("demo")
    _read_until(demo, "nothing to verify")
    second = newcomer(*ARGV, "demo")
    assert (second.code, "a demo is running in" in second.stderr) == (6, True), second
    demo.kill()
    demo.communicate()
    assert newcomer.left() != []
    third = newcomer.start("demo")
    _read_until(third, "an agent for each test")
    third.send_signal(signal.SIGINT)
    third.communicate(timeout=2 * PATIENCE_S)
    assert wait_until(lambda: not newcomer.left(), PATIENCE_S)


@pytest.mark.accept("U1", "K18")
@pytest.mark.parametrize("name", ["precious", "t/mngr-demo-link"])
def test_a_note_that_names_something_else_harms_nothing(newcomer: Newcomer, name: str) -> None:
    precious = newcomer.cwd / "precious"
    (precious / "file").mkdir(parents=True)
    (newcomer.temp / "mngr-demo-link").symlink_to(precious)
    (newcomer.cwd / "mngr-demo/pantry").mkdir(parents=True)
    named = precious if name == "precious" else newcomer.cwd.parent / name
    (newcomer.cwd / "mngr-demo/.demo").write_text(str(named))
    assert newcomer(*ARGV, "demo").code == 6
    assert (precious / "file").exists()


@pytest.mark.accept("U1", "U3")
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("raise ImportError", "not installed"),
        ("__version__, version_tuple = '8.3.5', (8, 3, 5)", "8.3.5 is too old"),
    ],
)
def test_without_a_pytest_that_can_run_the_example_it_says_what_to_install(
    newcomer: Newcomer, tmp_path: Path, source: str, said: str
) -> None:
    (tmp_path / "pytest.py").write_text(source)
    newcomer.env["PYTHONPATH"] = str(tmp_path)
    done = newcomer(*ARGV, "demo")
    assert (done.code, f"pytest: {said}" in done.stderr) == (1, True), done
    assert "mngr-agents[demo]" in done.stderr
    assert [*newcomer.cwd.iterdir(), *newcomer.left()] == []


@pytest.mark.accept("U1", "U3")
def test_a_folder_that_is_something_else_is_left_alone(newcomer: Newcomer) -> None:
    mine = newcomer.cwd / "mngr-demo/pantry/shopping.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("beans\n")
    done = newcomer(*ARGV, "demo", "--no-keep")
    assert done.code == 6, done
    assert "is not the example's repository" in done.stderr
    assert "--dir DIR" in done.stderr
    assert mine.read_text() == "beans\n"
    assert newcomer.left() == []
    nowhere = newcomer(*ARGV, "demo", "--dir", "/proc/here")
    assert (nowhere.code, "cannot make /proc/here" in nowhere.stderr) == (1, True), nowhere
