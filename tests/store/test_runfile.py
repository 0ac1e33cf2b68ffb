"""run.sh carries any directory, environment and argv exactly, in every shell."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mngr.errors import UsageError
from mngr.process import run
from mngr.sh.program import encode
from mngr.store.paths import AgentPaths
from mngr.store.runfile import RunFile, check_env, parse_run_file, run_file_text

SHELLS = [("dash",), ("busybox", "sh"), ("bash",), ("bash", "--posix")]
HOSTILE = {
    "PLAIN": "x",
    "EVIL": "$(touch pwned) `id` ; rm -rf / 'quoted' \"double\" \\",
    "LINES": "a\n\nb\n",
    "BYTES": os.fsdecode(b"\xff\xfe\x01\x1b[0m"),
    "UNI": "ü€🎈",
    "DOT.TED": "dotted $(id)",
    "OPTIND": "7",
    "IFS": ":",
    "PS1": "$(id) ",
    "PWD": "/else where",
    "UID": "x",
    "BIG": "y" * 100_000,
}
PRINT = """
import os, sys
pairs = [name + b"=" + value for name, value in os.environb.items()]
sys.stdout.buffer.write(b"\\0".join(map(os.fsencode, sys.argv[1:])) + b"\\1" + b"\\0".join(pairs))
"""


@pytest.mark.accept("K9", "Q7")
@pytest.mark.parametrize("shell", SHELLS, ids="-".join)
def test_every_byte_arrives_and_nothing_is_evaluated(shell: tuple[str, ...], tmp_path: Path) -> None:
    work = tmp_path / "wörk 'dir' $(id)"
    work.mkdir()
    argv = (sys.executable, "-c", PRINT, "", "a b", "$HOME", "'", "-x", os.fsdecode(b"\xff"), "line\nend\n")
    file = tmp_path / "run.sh"
    file.write_bytes(encode(run_file_text(RunFile(str(work), argv, HOSTILE), AgentPaths(str(tmp_path)))))
    done = run([*shell, str(file), "launch"], timeout_s=90).check("run.sh")
    arguments, _, environment = done.stdout.partition(b"\1")
    assert arguments.split(b"\0") == [os.fsencode(word) for word in argv[3:]]
    got = dict(pair.partition(b"=")[::2] for pair in environment.split(b"\0"))
    for name, value in HOSTILE.items():
        assert got[os.fsencode(name)] == os.fsencode(value), name
    assert not list(work.iterdir())
    assert (tmp_path / "pid").read_text().split()[0].isdigit()


def test_runs_another_command_in_the_agents_place(tmp_path: Path) -> None:
    file = tmp_path / "run.sh"
    data = RunFile(str(tmp_path), ("false",), {"A": "1 2", "B.C": "3"})
    file.write_bytes(encode(run_file_text(data, AgentPaths(str(tmp_path)))))
    done = run(["sh", str(file), "--", "sh", "-c", 'echo "$A $1"; pwd', "x", "a  b"])
    assert done.text.splitlines() == ["1 2 a  b", str(tmp_path)]
    assert "B.C=3" in run(["sh", str(file), "--", "env"]).text.splitlines()
    assert not (tmp_path / "pid").exists()


def test_a_directory_that_is_gone_is_a_code_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "run.sh"
    file.write_text(run_file_text(RunFile(str(tmp_path / "gone"), ("true",)), AgentPaths(str(tmp_path))))
    assert run(["sh", str(file), "launch"]).code == 72


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
surrogates = st.binary().map(lambda data: os.fsdecode(data.replace(b"\0", b"0")))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    surrogates,
    st.lists(surrogates, min_size=1).map(tuple),
    st.dictionaries(st.from_regex(r"[A-Za-z_.]+", fullmatch=True), surrogates),
)
def test_what_was_written_can_be_read_back(cwd: str, argv: tuple[str, ...], env: dict[str, str]) -> None:
    given_run = RunFile(cwd, argv, env)
    assert parse_run_file(encode(run_file_text(given_run, AgentPaths("/x")))) == given_run


@pytest.mark.parametrize("env", [{"": "x"}, {"A=B": "x"}, {"A\0": "x"}, {"A": "x\0y"}])
def test_refuses_what_no_program_can_be_given(env: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        check_env(env)


@pytest.mark.accept("K9")
@pytest.mark.parametrize("tool", ["perl", "python3"])
def test_no_value_is_in_an_argument_of_anything_that_a_run_file_starts(tmp_path: Path, tool: str) -> None:
    """Values of variables whose names no shell can export were in the arguments of env(1), for all to see."""
    own, tools = tmp_path / "bin", tmp_path / "tools"
    own.mkdir()
    tools.mkdir()
    for name in ("env", tool):
        real = sys.executable if name == "python3" else shutil.which(name)
        (own / name).write_text(
            f'#!/bin/sh\nprintf "%s\\n" {name} "$@" >>{tmp_path}/seen\nexec {real} "$@"\n'
        )
        (own / name).chmod(0o755)
    secrets = {name: f"s3cret {name} ü\n'$(id)" for name in (*"A.B a-b 1x PS1 OPTIND UID".split(), "%")}
    argv = (sys.executable, "-c", PRINT)
    file = tmp_path / "run.sh"
    run_file = RunFile(str(tmp_path), argv, {"PATH": str(tools), **secrets})
    file.write_bytes(encode(run_file_text(run_file, AgentPaths(str(tmp_path)))))
    for shell in SHELLS:
        done = run([str(shutil.which(shell[0])), *shell[1:], str(file), "launch"], timeout_s=90).check(
            "run.sh"
        )
        got = dict(pair.partition(b"=")[::2] for pair in done.stdout.partition(b"\1")[2].split(b"\0"))
        assert {name: os.fsdecode(got[os.fsencode(name)]) for name in secrets} == secrets
    seen = (tmp_path / "seen").read_text()
    assert seen.splitlines().count(tool) == len(SHELLS)
    assert "s3cret" not in seen
    missing = RunFile(str(tmp_path), ("no-such-program",), {"PATH": str(tools), "A.B": "x"})
    file.write_bytes(encode(run_file_text(missing, AgentPaths(str(tmp_path)))))
    assert run(["sh", str(file), "launch"], timeout_s=90).code == 127
