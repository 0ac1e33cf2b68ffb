"""Session files of Claude Code: conversation, tokens, and files that are torn or huge."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mngr.agents.claude.home import home_of
from mngr.agents.claude.session import read_spendings, read_turns
from mngr.agents.claude.type import ClaudeType
from mngr.hosts.local import LocalHost
from mngr.model.agent import AgentSpec
from mngr.model.message import Spending, Turn
from mngr.testing.agents import new_spec

pytestmark = pytest.mark.accept("K14")
TYPE = ClaudeType()
AT = "2026-11-16T04:00:00.500Z"


def line(kind: str, content: Any, **more: Any) -> bytes:
    return json.dumps({"type": kind, "timestamp": AT, "message": {"content": content}, **more}).encode()


def answer(text: str, number: int, **usage: int) -> bytes:
    message = {
        "id": f"msg_{number}",
        "model": "claude-opus-4-8",
        "content": [{"type": "text", "text": text}],
        "usage": usage,
    }
    return json.dumps(
        {"type": "assistant", "timestamp": AT, "message": message}, separators=(",", ":")
    ).encode()


@pytest.fixture
def agent(host: LocalHost) -> AgentSpec:
    return new_spec(TYPE, host, ())


def session(agent: AgentSpec, host: LocalHost) -> Path:
    path = Path(home_of(agent, host)) / "projects/p/s.jsonl"
    path.parent.mkdir(parents=True)
    host.write(f"{home_of(agent, host)}/session", f"{path}\n".encode())
    return path


def test_everybody_who_spoke_is_told_apart() -> None:
    lines = [
        line("user", "please"),
        line("user", "a reminder", isMeta=True),
        line("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I look"}]),
        line("assistant", [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]),
        line("user", [{"type": "tool_result", "content": [{"type": "text", "text": "file"}]}]),
        line("assistant", "inside a helper", isSidechain=True),
        json.dumps(
            {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "and"}}
        ).encode(),
        line("user", [{"type": "text", "text": "[Request interrupted by user]"}]),
        b'{"type":"user","message":{"content":"torn',
        b"[1, 2]",
        line("user", {"strange": 1}),
        json.dumps({"type": "summary", "summary": "s"}).encode(),
    ]
    told = [(turn.role, turn.text) for turn in read_turns(lines)]
    assert told == [
        ("user", "please"),
        ("agent", "I look"),
        ("tool", "Bash: ls"),
        ("tool", "file"),
        ("user", "and"),
        ("tool", "[Request interrupted by user]"),
    ]
    assert next(iter(read_turns(lines))).at == pytest.approx(1794801600.5)


def test_an_answer_that_was_written_before_its_question_is_told_after_it() -> None:
    lines = [
        line("assistant", "fine", uuid="c", parentUuid="b"),
        line("assistant", "really", uuid="d", parentUuid="c"),
        line("user", "how is it?", uuid="a", parentUuid=None),
        json.dumps({"type": "attachment", "uuid": "b", "parentUuid": "a"}).encode(),
        line("user", "and now?", uuid="e", parentUuid="d"),
        line("user", "after a part that is not here", uuid="f", parentUuid="gone"),
        line("user", "mine", uuid="g", parentUuid="g"),
        line("user", "strange", uuid=["h"], parentUuid={}),
    ]
    told = [turn.text for turn in read_turns(lines)]
    assert told[:4] == ["how is it?", "fine", "really", "and now?"]
    assert sorted(told[4:]) == ["after a part that is not here", "mine", "strange"]


def test_one_answer_told_in_several_lines_is_counted_once_with_its_last_count() -> None:
    lines = [answer("a", 1, input_tokens=9, output_tokens=1), answer("b", 1, input_tokens=9, output_tokens=7)]
    lines += [answer("c", 2, input_tokens=1, output_tokens=2, cache_read_input_tokens=3), b"torn"]
    found = read_spendings(b"\n".join(lines))
    assert [(one.input_tokens, one.output_tokens, one.cache_read_tokens) for one in found] == [
        (9, 7, 0),
        (1, 2, 3),
    ]


def test_tokens_written_for_an_hour_are_kept_apart() -> None:
    usage = {
        "cache_creation_input_tokens": 100,
        "cache_creation": {"ephemeral_1h_input_tokens": 40},
        "input_tokens": -5,
    }
    data = {"type": "assistant", "timestamp": "?", "message": {"id": "1", "model": "m", "usage": usage}}
    (found,) = read_spendings(json.dumps(data).encode())
    assert found == Spending(0.0, "m", cache_write_tokens=60, cache_write_1h_tokens=40)


def test_a_torn_session_file_tells_what_is_left_of_it(agent: AgentSpec, host: LocalHost) -> None:
    path = session(agent, host)
    whole = b"\n".join(
        (line("user", "hello"), answer("hi", 1, input_tokens=3, output_tokens=4), line("user", "x" * 99))
    )
    path.write_bytes(whole[:-20])
    assert [turn.text for turn in TYPE.transcript(agent, host)] == ["hello", "hi"]
    assert TYPE.usage(agent, host).output_tokens == 4


def test_of_a_huge_session_file_only_the_end_is_read(agent: AgentSpec, host: LocalHost) -> None:
    path = session(agent, host)
    with path.open("wb") as file:
        file.write(line("user", "first") + b"\n" + answer("long ago", 1, output_tokens=4) + b"\n")
        file.truncate(500 << 20)
        file.seek(0, os.SEEK_END)
        file.write(
            b"\n"
            + line("user", "the last")
            + b"\n"
            + answer("word", 2, input_tokens=5, output_tokens=6)
            + b"\n"
        )
    turns = list(TYPE.transcript(agent, host))
    assert turns[0] == Turn("tool", "(the first 492 MB of the conversation are left out)")
    assert [turn.text for turn in turns[1:]] == ["the last", "word"]
    assert TYPE.usage(agent, host).output_tokens == 6


def test_an_agent_that_said_nothing_yet_has_an_empty_conversation(agent: AgentSpec, host: LocalHost) -> None:
    assert list(TYPE.transcript(agent, host)) == []
    assert TYPE.usage(agent, host).output_tokens == 0
    TYPE.copy_conversation(agent, new_spec(TYPE, host, ()), host)
    assert TYPE.resume_command(agent, host) == TYPE.command(agent, host)


def test_a_clone_has_the_conversation_and_not_its_cost(agent: AgentSpec, host: LocalHost) -> None:
    path, clone = session(agent, host), new_spec(TYPE, host, ())
    path.write_bytes(line("user", "hello") + b"\n" + answer("hi", 1, input_tokens=3, output_tokens=4) + b"\n")
    TYPE.copy_conversation(agent, clone, host)
    assert [turn.text for turn in TYPE.transcript(clone, host)] == ["hello", "hi"]
    assert TYPE.usage(clone, host).output_tokens == 0
    copy = host.read(f"{home_of(clone, host)}/session").decode().strip()
    with open(copy, "ab") as file:
        file.write(answer("more", 2, input_tokens=1, output_tokens=9) + b"\n")
    assert TYPE.usage(clone, host).output_tokens == 9
    assert "--resume" in TYPE.resume_command(clone, host).argv
