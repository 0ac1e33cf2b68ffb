"""The plugin as a suite of someone else meets it."""

import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from mngr_e2e import expect
from mngr_e2e.session.artifacts import Meta, read_meta
from mngr_e2e.session.transcript import parse_transcript
from mngr_e2e.session.world.reaper import find_marked
from mngr_e2e.tutorial.blocks import read_blocks

SEED = '''
from mngr_e2e import E2eSession, expect

def test_help_succeeds(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # or see the other commands--list, destroy, message, connect, push, pull, clone, and more! @LONG
        mngr --help
    """)
    result = e2e.run(
        "mngr --help",
        comment="or see the other commands--list, destroy, message, connect, push, pull, clone, and more!",
    )
    expect(result).to_succeed()
    expect(result.stdout).to_contain("Usage")
    expect(result.stdout).to_contain("create")
    expect(result.stdout).to_contain("list")
'''.replace("@LONG", "These other commands are covered in their own sections below.")


class Suite:
    """A folder with tests, run by a pytest of its own."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.root = pytester.path
        self._pytester = pytester

    def run(self, source: str, *options: str) -> pytest.RunResult:
        return self._pytester.runpytest_inprocess(*self._words(source), *options)

    def run_apart(self, source: str) -> pytest.RunResult:
        """In a process of its own: slower, and it may die."""
        return self._pytester.runpytest_subprocess(*self._words(source))

    def _words(self, source: str) -> tuple[str, ...]:
        self._pytester.makepyfile(test_it=textwrap.dedent(source))
        return ("-p", "no:cacheprovider", "-W", "error")

    def attempts(self, below: str = ".mngr/e2e") -> list[Path]:
        return sorted(path.parent for path in (self.root / below).glob("*/*/attempt-*/meta.json"))

    def failures(self) -> dict[str, str]:
        """What `failure.txt` says, by the test's name."""
        said = {folder: folder / "failure.txt" for folder in self.attempts()}
        return {
            _meta(folder).node_id.rpartition("::")[2]: path.read_text()
            for folder, path in said.items()
            if path.exists()
        }

    def metas(self) -> dict[str, Meta]:
        return {meta.node_id.rpartition("::")[2]: meta for meta in map(_meta, self.attempts())}


def _meta(folder: Path) -> Meta:
    return read_meta(str(folder))


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Suite:
    for name in [*os.environ]:
        if name.startswith(("MNGR_", "PYTEST_ADDOPTS")):
            monkeypatch.delenv(name)
    return Suite(pytester)


@pytest.mark.accept("Y3", "Y4", "F1", "F2", "F5", "F17")
def test_the_seeds_test_runs_as_printed(suite: Suite) -> None:
    suite.run(SEED).assert_outcomes(passed=1)
    (folder,) = suite.attempts()
    lines = (folder / "transcript.txt").read_text().splitlines()
    assert lines[0].startswith("# or see the other commands--list, destroy")
    assert lines[1] == "$ mngr --help"
    assert any(line.startswith("  Usage") for line in lines)
    assert lines[-1] == "? 0"
    block = (folder / "tutorial_block.txt").read_text()
    assert block.startswith("# or see the other commands")
    assert block.endswith("below.\nmngr --help\n")
    assert read_meta(str(folder)).blocks == (block.strip(),)


@pytest.mark.accept("F7", "F10")
def test_every_outcome_leaves_its_transcript_and_nothing_else(suite: Suite) -> None:
    done = suite.run("""
        import pathlib, pytest
        from mngr_e2e import expect

        @pytest.fixture(autouse=True)
        def note(e2e):
            e2e.run("setsid sleep 300 >/dev/null 2>&1 & echo started")
            e2e.run(f"echo $HOME >> {pathlib.Path('roots').absolute()}")

        @pytest.fixture
        def broken(note): raise RuntimeError("no")

        def test_passes(e2e): pass
        def test_fails(e2e): expect(e2e.run("exit 3")).to_succeed()
        def test_raises(e2e): raise ValueError
        def test_skips(e2e): pytest.skip("not now")
        def test_errs(broken): pass
        def test_times_out(e2e): expect(e2e.run("sleep 60", timeout_s=0.2)).to_succeed()
    """)
    done.assert_outcomes(passed=1, failed=3, skipped=1, errors=1)
    statuses = {name: meta.status for name, meta in suite.metas().items()}
    assert statuses == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_raises": "failed",
        "test_skips": "skipped",
        "test_errs": "error",
        "test_times_out": "timeout",
    }
    for folder in suite.attempts():
        assert parse_transcript((folder / "transcript.txt").read_text())[0].stdout == "started\n"
    homes = (suite.root / "roots").read_text().split()
    assert len(set(homes)) == 6
    assert not any(os.path.exists(os.path.dirname(home)) for home in homes)
    assert find_marked(tuple(os.fsencode(f"={home}") for home in homes)) == []


@pytest.mark.accept("F4")
def test_a_failure_shows_the_transcript_and_where_it_is(suite: Suite) -> None:
    done = suite.run("""
        from mngr_e2e import expect
        def test_fails(e2e):
            expect(e2e.run("echo out; echo err >&2; exit 3", comment="why")).to_succeed()
    """)
    done.stdout.fnmatch_lines(
        [
            "E*expected the command to succeed, found exit code 3: $ echo out; echo err >&2; exit 3",
            "E*$ echo out; echo err >&2; exit 3",
            "E*exit code: 3",
            "*e2e transcript*",
            "# why",
            "  out",
            "! err",
            "? 3",
            "(*attempt-1)",
        ]
    )


@pytest.mark.accept("F7", "V2")
@pytest.mark.parametrize("options", [(), ("-n1",)])
def test_what_pytest_said_is_kept_with_its_reason(suite: Suite, options: tuple[str, ...]) -> None:
    done = suite.run(
        r"""
        import pytest
        from mngr_e2e import expect

        @pytest.fixture
        def broken(e2e): raise RuntimeError("no desk")

        @pytest.fixture
        def untidy(e2e):
            yield
            raise RuntimeError("crumbs left")

        def test_fails(e2e):
            print("seen on the way")
            expect(e2e.run("printf '\\033[31mred\\033[0m'; exit 3")).to_succeed()
        def test_asserts(e2e): assert 1 == 2, "\x1b[1mbold\x1b[0m words"
        def test_times_out(e2e): expect(e2e.run("sleep 60", timeout_s=0.2)).to_succeed()
        def test_sets_up_badly(broken): pass
        def test_cleans_up_badly(untidy): pass
        def test_is_wrong_twice(untidy): assert False
        def test_passes(e2e): pass
        """,
        *options,
    )
    done.assert_outcomes(passed=2, failed=4, errors=3)
    reasons = {name: (meta.status, meta.reason) for name, meta in suite.metas().items()}
    assert reasons == {
        "test_fails": (
            "failed",
            r"expected the command to succeed, found exit code 3: $ printf '\033[31mred\033[0m'; exit 3",
        ),
        "test_asserts": ("failed", "AssertionError: bold words"),
        "test_times_out": ("timeout", "expected the command to succeed, found a timeout: $ sleep 60"),
        "test_sets_up_badly": ("error", "RuntimeError: no desk"),
        "test_cleans_up_badly": ("error", "RuntimeError: crumbs left"),
        "test_is_wrong_twice": ("failed", "assert False"),
        "test_passes": ("passed", ""),
    }
    said = suite.failures()
    expect(said["test_fails"]).to_contain("def test_fails(e2e):")
    expect(said["test_fails"]).to_contain("exit code: 3")
    assert "Captured stdout call:\nseen on the way" in said["test_fails"]
    assert "red" in said["test_fails"]
    assert said["test_sets_up_badly"].startswith("during setup:\n\n")
    assert said["test_cleans_up_badly"].startswith("during teardown:\n\n")
    assert said["test_is_wrong_twice"].index("assert False") < said["test_is_wrong_twice"].index("crumbs")
    assert "test_passes" not in said
    assert not any("\x1b" in text for text in said.values())


@pytest.mark.accept("Q5")
def test_a_failure_of_any_length_is_kept_in_part(suite: Suite) -> None:
    suite.run("def test_long(e2e): raise ValueError('begin' + 'x' * 1_000_000 + 'end')")
    (text,) = suite.failures().values()
    assert len(text) < 300_000
    assert "characters left out" in text
    assert "end" in text[-100_000:]
    assert len(suite.metas()["test_long"].reason) == 300


def test_a_world_that_cannot_be_made_is_an_error_with_its_reason(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = suite.root / "programs"
    programs.mkdir()
    (programs / "git").write_text("#!/bin/sh\necho no space for you >&2; exit 1\n")
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    done = suite.run_apart("def test_one(e2e): pass")
    done.assert_outcomes(errors=1)
    meta = suite.metas()["test_one"]
    assert meta.status == "error"
    assert "no space for you" in meta.reason
    assert "no space for you" in suite.failures()["test_one"]


@pytest.mark.accept("Y3", "Y4", "Y15", "Y16")
def test_the_artifacts_name_the_blocks_and_the_place_of_the_test(suite: Suite) -> None:
    suite.run('''
        def test_calls(e2e):
            e2e.write_tutorial_block("""
                # list
                ls | \\\\
                  wc
            """)
            e2e.write_tutorial_block("""# list
                ls | \\\\
                  wc
            """)

        def test_tells(e2e):
            """Counts.

            Tutorial block:
                # list
                ls | \\\\
                  wc
            Scope: counting
            """
    ''')
    (block,) = read_blocks("# list\nls | \\\n  wc\n")
    metas = suite.metas()
    assert metas["test_calls"].block_ids == (block.id, block.id)
    assert metas["test_tells"].block_ids == (block.id,)
    assert metas["test_tells"].blocks == (block.text,)
    assert (metas["test_calls"].file, metas["test_calls"].line) == ("test_it.py", 1)
    assert metas["test_tells"].line == 12


@pytest.mark.accept("F9")
def test_workers_share_a_run_and_tests_share_nothing(suite: Suite) -> None:
    done = suite.run(
        """
        import pytest
        from mngr_e2e import expect

        @pytest.mark.parametrize("n", range(4))
        def test_one(e2e, n):
            expect(e2e.cwd / "mine").not_.to_exist()
            e2e.run("echo > mine; git add mine; git commit -qm mine; git config --global user.name me")
            expect(e2e.run("git log --oneline | wc -l").stdout.strip()).to_equal("2")
            print("PREFIX", e2e.env["MNGR_PREFIX"], e2e.env["MNGR_HOST_DIR"], e2e.env["TMUX_TMPDIR"])
        """,
        "-n2",
        "-rP",
    )
    done.assert_outcomes(passed=4)
    assert len(suite.attempts()) == 4
    assert len({folder.parent.parent for folder in suite.attempts()}) == 1
    prefixes = [line.split()[1:] for line in done.outlines if line.startswith("PREFIX")]
    assert [len(set(column)) for column in zip(*prefixes, strict=True)] == [4, 4, 4]


def test_attempts_of_one_run_do_not_overwrite_each_other(suite: Suite) -> None:
    source = "def test_one(e2e): e2e.run('echo hi')"
    for _ in range(2):
        suite.run(source, "--e2e-run", "mine", "--e2e-artifacts", "kept").assert_outcomes(passed=1)
    folders = suite.attempts("kept")
    assert [folder.name for folder in folders] == ["attempt-1", "attempt-2"]
    assert [read_meta(str(folder)).attempt for folder in folders] == [1, 2]
    assert folders[0].parent.parent.name == "mine"


def test_a_run_name_that_leaves_the_folder_is_refused(suite: Suite) -> None:
    done = suite.run("def test_one(e2e): pass", "--e2e-run", "../../x")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*--e2e-run*a run's name is a folder's name*"])


def test_git_does_not_see_the_artifacts(suite: Suite) -> None:
    suite.run("def test_one(e2e): pass")
    assert (suite.root / ".mngr/e2e/.gitignore").read_text() == "*\n"


@pytest.mark.accept("F20")
def test_inside_an_agent_the_suite_passes_and_writes_to_the_outbox(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox = suite.root / "outbox"
    outbox.mkdir()
    inherited = {"MNGR_OUTBOX": str(outbox), "MNGR_AGENT_ID": "agent-1", "MNGR__X__Y": "1"}
    inherited |= {"TMUX": "/tmp/x,1,0", "TMUX_PANE": "%1", "CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli"}
    for name, value in inherited.items():
        monkeypatch.setenv(name, value)
    done = suite.run("""
        from mngr_e2e import expect
        def test_one(e2e):
            env = e2e.run("env").stdout
            for word in ("MNGR_OUTBOX", "MNGR_AGENT_ID", "MNGR__X", "TMUX=", "TMUX_PANE", "CLAUDE"):
                expect(env).not_.to_contain(word)
    """)
    done.assert_outcomes(passed=1)
    assert len(suite.attempts("outbox/artifacts")) == 1
    assert not (suite.root / ".mngr").exists()


@pytest.mark.accept("F11")
def test_a_kept_environment_says_how_to_enter_and_how_to_remove_it(suite: Suite) -> None:
    done = suite.run(
        """
        def test_fails(e2e):
            e2e.run("echo left > file; setsid sleep 300 >/dev/null 2>&1 &")
            e2e.terminal("echo still here; exec sleep 300").wait_for("still here")
            assert False
        def test_passes(e2e): pass
        """,
        "--e2e-keep=failed",
        "-n1",
    )
    text = done.stdout.str()
    look = re.search(r"look: +(cd \S+ && \. \S+)", text)
    remove = re.search(r"remove: +(sh \S+)", text)
    attach = re.search(r"attach: +(cd \S+ && tmux -S \S+) attach", text)
    assert look
    assert remove
    assert attach
    assert text.count("remove: ") == 1
    screen = subprocess.run(
        f"{attach[1]} capture-pane -p", shell=True, capture_output=True, text=True, timeout=120, check=True
    )
    assert "still here" in screen.stdout
    script = f"{look[1]} && cat file && echo $HOME && {remove[1]}"
    shown = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, timeout=120, check=True
    ).stdout
    left, home = shown.split()
    assert left == "left"
    assert not os.path.exists(os.path.dirname(home))
    assert find_marked((os.fsencode(f"={home}"),)) == []


@pytest.mark.accept("F7")
def test_a_killed_pytest_leaves_the_transcript(suite: Suite) -> None:
    done = suite.run_apart("""
        import os, pathlib, signal
        def test_dies(e2e):
            e2e.run("echo before")
            pathlib.Path("home").write_text(e2e.env["HOME"])
            os.kill(os.getpid(), signal.SIGKILL)
    """)
    assert done.ret == -signal.SIGKILL
    (folder,) = suite.attempts()
    assert (folder / "transcript.txt").read_text() == "$ echo before\n  before\n? 0\n"
    assert read_meta(str(folder)).status == "running"
    subprocess.run(["rm", "-rf", os.path.dirname((suite.root / "home").read_text())], check=True)


def test_shell_and_timeout_come_from_ini_and_marker(suite: Suite) -> None:
    suite.root.joinpath("pytest.ini").write_text("[pytest]\ne2e_shell = bash\n")
    done = suite.run(
        """
        import pytest
        from mngr_e2e import expect
        def test_bash(e2e): expect(e2e.run("[[ a == a ]] && a=(1 2)")).to_succeed()
        @pytest.mark.e2e(shell="sh", timeout_s=0.2)
        def test_marked(e2e):
            expect(e2e.run("echo ${BASH_VERSION:-none}").stdout).to_equal("none\\n")
            expect(e2e.run("sleep 9")).to_time_out()
        """,
        "--strict-markers",
    )
    done.assert_outcomes(passed=2)


def test_a_suite_without_e2e_tests_loads_nothing_and_leaves_nothing(suite: Suite) -> None:
    done = suite.run_apart("""
        import sys
        def test_one():
            assert "mngr_e2e.plugin" in sys.modules
            assert not [name for name in sys.modules if name.startswith(("mngr_e2e.session", "mngr.", "msgspec"))]
    """)
    done.assert_outcomes(passed=1)
    assert not (suite.root / ".mngr").exists()


def test_public_names_load_in_any_order() -> None:
    script = (
        "import mngr_e2e.matchers.failure; from mngr_e2e import expect, eventually; expect('a').to_equal('a')"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
