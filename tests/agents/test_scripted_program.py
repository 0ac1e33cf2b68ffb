"""What each step of a playbook does, by its effects."""

import ast
import json
import os
import re
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agents.test_scripted import TYPE, evidence, kinds, playing, wait_kind
from tests.tmux.stage import is_alive

from mngr import process
from mngr.agents.scripted import program
from mngr.agents.scripted.program.playbook import BadPlaybookError, compile_steps
from mngr.agents.scripted.program.terminal import PASTE_END, PASTE_START, Inbox
from mngr.hosts.local import LocalHost
from mngr.process import wait_until
from mngr.store.untrusted import ExitRecord
from mngr.testing.agents import Running
from mngr.testing.waiting import PATIENCE_S
from mngr.tmux.pane import capture, look


def outcome(agent: Running) -> ExitRecord:
    """How it ended."""
    found = wait_until(lambda: evidence(agent).exit, PATIENCE_S)
    assert found, capture(agent.pane)
    return found


def git(folder: str, *words: str) -> str:
    return process.run(("git", "-C", folder, *words)).check("git").text


@pytest.mark.accept("M14")
def test_it_edits_runs_and_commits_by_kind(host: LocalHost) -> None:
    steps: tuple[dict[str, Any], ...] = (
        {"run": "git init -q -b main . && git config commit.gpgsign false"},
        {"edit": "sub/a.txt", "text": "one two"},
        {"edit": "sub/a.txt", "replace": ["two", "three"]},
        {"edit": "sub/a.txt", "append": "\nfour\n"},
        {"edit": "gone.txt", "text": "x"},
        {"commit": "fix: a thing", "kind": "implementation"},
        {"delete": "gone.txt"},
        {"commit": "test: less", "kind": "test"},
        {"result": {"outcome": "fixed", "commits": ["{commit}"], "n": 1}},
        {"write_outbox": "notes/a.md", "text": "note"},
        {"exit": 0},
    )
    with playing(host, *steps) as agent:
        assert outcome(agent).exit_code == 0, capture(agent.pane)
        work = agent.spec.work_dir
        assert Path(work, "sub/a.txt").read_text() == "one three\nfour\n"
        log = git(
            work, "log", "--reverse", "--format=%s|%(trailers:key=Kind,valueonly,separator=%x2C)"
        ).split("\n")
        assert log[:2] == ["fix: a thing|implementation", "test: less|test"]
        assert git(work, "status", "--porcelain") == ""
        result = json.loads(host.read(agent.pane.agent.result))
        assert result == {"outcome": "fixed", "commits": [git(work, "rev-parse", "HEAD").strip()], "n": 1}
        assert host.read(f"{agent.pane.agent.outbox}/notes/a.md") == b"note"
        roles = [turn.role for turn in TYPE.transcript(agent.spec, host)]
        assert roles.count("tool") == 8


def test_it_shows_what_it_does(host: LocalHost) -> None:
    steps = (
        {"say": "I look\naround"},
        {"run": "echo out; echo err >&2"},
        {"edit": "f", "text": ""},
        {"ask": "why?"},
    )
    with playing(host, *steps) as agent:
        wait_kind(agent, "needs_input")
        assert wait_until(
            lambda: capture(agent.pane).endswith("? why?\n>\n") or "why?" in capture(agent.pane), 5
        )
        shown = capture(agent.pane)
        for line in ("● I look", "  around", "$ echo out; echo err >&2", "out", "err", "✎ f", "● why?", ">"):
            assert line in shown.split("\n")
        assert "\x1b[36m" in capture(agent.pane, ansi=True)


def test_a_command_that_prints_nothing_for_long_is_shown_to_be_running(host: LocalHost) -> None:
    with playing(host, {"run": "printf half; until [ -e go ]; do sleep 0.2; done"}, {"ask": "ok?"}) as agent:
        found = wait_until(
            lambda: re.search(r"^half\n… running for \d+ s$", capture(agent.pane), re.M), PATIENCE_S
        )
        assert found, capture(agent.pane)
        Path(agent.spec.work_dir, "go").touch()
        wait_kind(agent, "needs_input")
        assert "running" not in "".join(turn.text for turn in TYPE.transcript(agent.spec, host))


def test_a_message_cannot_play_tricks_on_the_screen(host: LocalHost) -> None:
    with playing(host, {"end_turn": True}, {"say": "{message}"}, {"ask": "ok?"}) as agent:
        TYPE.send(agent.pane, b"a\x1b[2Jb\x07c\x9b31m")
        wait_kind(agent, "needs_input")
        assert "> a·[2Jb·c" in capture(agent.pane)
        assert "● a·[2Jb·c" in capture(agent.pane)


def test_a_failing_command_ends_it_unless_allowed(host: LocalHost) -> None:
    mended = {"if_failed": [{"edit": "mended", "text": ""}]}
    steps = (
        {"run": "exit 3", "allow_fail": True},
        mended,
        {"run": "true"},
        {"if_failed": [{"exit": 9}]},
        {"run": "exit 4"},
    )
    with playing(host, *steps) as agent:
        assert outcome(agent).exit_code == 1
        assert os.path.exists(f"{agent.spec.work_dir}/mended")
        assert "exit code 4" in capture(agent.pane)


@pytest.mark.accept("K7")
@pytest.mark.parametrize(("signal", "name"), [("KILL", "SIGKILL"), ("SIGSEGV", "SIGSEGV"), (15, "SIGTERM")])
def test_it_crashes_by_a_signal(host: LocalHost, signal: str | int, name: str) -> None:
    with playing(host, {"crash": signal}) as agent:
        record = outcome(agent)
        assert (record.exit_code, record.signal) == (None, name)


@pytest.mark.accept("Q4")
def test_it_floods(host: LocalHost) -> None:
    with playing(host, {"flood": 300_000}, {"ask": "enough?"}) as agent:
        wait_kind(agent, "needs_input")
        assert wait_until(lambda: "enough?" in capture(agent.pane), PATIENCE_S)


@pytest.mark.accept("Q4", "K5")
def test_it_ignores_term_and_leaves_children_that_must_be_found(host: LocalHost) -> None:
    with playing(
        host, {"ignore_term": True}, {"spawn": "child"}, {"spawn": "detached"}, {"say": "up"}, {"hang": True}
    ) as agent:
        assert wait_until(lambda: "● up" in capture(agent.pane), PATIENCE_S)
        pid = look(agent.pane).pid
        process.run(("kill", "-TERM", str(pid)))
        sleepers = wait_until(lambda: found if len(found := sleepers_of(agent)) == 2 else None, PATIENCE_S)
        assert sleepers
        assert sorted(os.getsid(sleeper) == os.getsid(pid) for sleeper in sleepers) == [False, True]
        assert is_alive(pid)
        process.run(("kill", "-9", str(pid), *map(str, sleepers)))


def sleepers_of(agent: Running) -> list[int]:
    mark = f"MNGR_AGENT_ID={agent.spec.id}".encode()
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            is_ours = mark in Path(f"/proc/{entry}/environ").read_bytes()
            words = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if is_ours and words[:2] == [b"sleep", b"86400"] and is_alive(int(entry)):
            found.append(int(entry))
    return found


def test_loops_count_and_can_go_on_forever(host: LocalHost) -> None:
    inner = {"repeat": 2, "steps": [{"edit": "log", "append": "b"}]}
    none = {"repeat": 0, "steps": [{"edit": "log", "append": "never"}]}
    outer = {"repeat": 3, "steps": [{"edit": "log", "append": "a"}, inner, none]}
    forever = {"repeat": "forever", "steps": [{"end_turn": True}, {"edit": "log", "append": "c"}]}
    with playing(host, outer, forever) as agent:
        for _ in range(3):
            TYPE.send(agent.pane, b"next")
        assert wait_until(lambda: host.read(f"{agent.spec.work_dir}/log") == b"abbabbabbccc", PATIENCE_S)


@pytest.mark.accept("Q7")
@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({"sya": "hi"}, "no such step"),
        ({"say": 3}, "say cannot be 3"),
        ({"sleep": True}, "sleep cannot be true"),
        ({"say": "a", "run": "b"}, "no such step"),
        ({"run": "true", "allow": True}, "run has no allow"),
        ({"commit": "m", "kind": "magic"}, "a commit's kind is one of"),
        ({"repeat": "often", "steps": []}, "repeat is a number"),
        ({"repeat": 2}, "expected a list"),
        ({"edit": "f", "replace": ["one"]}, "replace is [old, new]"),
        ({"if_failed": [{"nope": 1}]}, "step 2, step 1: no such step"),
    ],
)
def test_a_bad_step_is_named_before_anything_is_done(
    host: LocalHost, step: dict[str, Any], said: str
) -> None:
    with playing(host, {"edit": "touched", "text": ""}, step) as agent:
        assert outcome(agent).exit_code == 64
        assert "step 2" in capture(agent.pane)
        assert said in capture(agent.pane).replace("\n", "")
        assert not os.path.exists(f"{agent.spec.work_dir}/touched")


def test_the_terminal_is_left_as_it_was_found(host: LocalHost) -> None:
    with playing(host, {"ask": "now?"}) as agent:
        wait_kind(agent, "needs_input")
        program = f"{agent.pane.agent.dir}/program.pyz"
        exit_book = f"{host.dir}/exit.json"
        host.write(exit_book, b'[{"say": "bye"}, {"exit": 0}]')
        script = f"stty -a >before; {sys.executable} {program} {exit_book}; stty -a >after; exec cat"
        other = f"{agent.pane.agent.dir}/again"
        env = f"MNGR_AGENT_STATE_DIR={other}"
        host.run(("mkdir", "-p", other))
        socket = agent.pane.paths.socket
        work = agent.spec.work_dir
        host.run(
            (
                "tmux",
                "-S",
                socket,
                "new-window",
                "-d",
                "-t",
                f"={agent.spec.session}:",
                "-c",
                work,
                "env",
                env,
                "sh",
                "-c",
                script,
            )
        )
        assert wait_until(lambda: os.path.exists(f"{work}/after") and host.read(f"{work}/after"), PATIENCE_S)
        assert host.read(f"{work}/after") == host.read(f"{work}/before")


def test_when_the_playbook_is_over_it_waits(host: LocalHost) -> None:
    with playing(host, {"say": "done"}) as agent:
        wait_kind(agent, "turn_ended")
        TYPE.send(agent.pane, b"and now?")
        assert wait_until(lambda: kinds(agent).count("turn_ended") == 2, PATIENCE_S)


def test_it_runs_on_old_pythons_without_any_other_package() -> None:
    sources = [path.read_text() for path in Path(program.__file__).parent.glob("*.py")]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source, feature_version=(3, 8)))]
    roots = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    roots |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    assert roots
    others = roots - sys.stdlib_module_names
    assert all(name.startswith(f"{program.__name__}.") for name in others), others


@pytest.mark.accept("K8", "Q7")
@given(
    message=st.binary(max_size=200).filter(lambda text: PASTE_END not in text and text),
    cuts=st.lists(st.integers(0, 220)),
)
def test_a_paste_is_taken_as_it_is_however_it_is_cut(message: bytes, cuts: list[int]) -> None:
    typed = PASTE_START + message + PASTE_END + b"\r"
    inbox, edges = Inbox(), [0, *sorted(min(cut, len(typed)) for cut in cuts), len(typed)]
    for begin, stop in pairwise(edges):
        inbox.feed(typed[begin:stop])
    assert inbox.messages == [message]


@pytest.mark.accept("Q7")
@given(st.binary(max_size=100))
def test_no_typed_bytes_confuse_it(typed: bytes) -> None:
    inbox = Inbox()
    try:
        inbox.feed(typed)
    except KeyboardInterrupt:
        assert b"\x03" in typed


@pytest.mark.accept("Q7")
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["say", "repeat", "steps", "if_failed", "x"]), inner)
        ),
        max_leaves=8,
    )
)
def test_any_json_is_a_playbook_or_refused(value: Any) -> None:
    with suppress(BadPlaybookError):
        assert isinstance(compile_steps(value), list)
