"""Session files of Codex: conversation, tokens, and files that are torn or huge."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mngr.agents.codex.home import home_of
from mngr.agents.codex.session import read_spendings, read_turns
from mngr.agents.codex.type import CodexType
from mngr.hosts.local import LocalHost
from mngr.model.agent import AgentSpec
from mngr.model.message import Spending, Turn
from mngr.testing.agents import new_spec

pytestmark = pytest.mark.accept("K14")
TYPE = CodexType()
AT = "2026-11-16T04:00:00.500Z"
THREAD = "01a1e2be-bcba-7401-8ad3-a69c27f6e7cb"


def line(kind: str, payload: Any) -> bytes:
    return json.dumps({"timestamp": AT, "type": kind, "payload": payload}, separators=(",", ":")).encode()


def item(kind: str, **more: Any) -> bytes:
    return line("event_msg", {"type": "item_completed", "item": {"type": kind, "id": "x", **more}})


def said(kind: str, text: str) -> bytes:
    return item(kind, content=[{"type": "text", "text": text}])


def spent(number: int, turn: str = "t1", **usage: int) -> bytes:
    return line("token_usage_record", {"turn_id": turn, "response_id": f"resp_{number}", "usage": usage})


def turn(name: str, model: str) -> bytes:
    return line("turn_context", {"turn_id": name, "model": model})


@pytest.fixture
def agent(host: LocalHost) -> AgentSpec:
    return new_spec(TYPE, host, ())


def session(agent: AgentSpec, host: LocalHost) -> Path:
    name = f"sessions/2026/11/16/rollout-2026-11-16T05-05-13-{THREAD}.jsonl"
    path = Path(home_of(agent, host)) / name
    path.parent.mkdir(parents=True)
    host.write(f"{home_of(agent, host)}/session", f"{name}\n".encode())
    return path


def test_everybody_who_spoke_is_told_apart() -> None:
    lines = [
        line("session_meta", {"id": THREAD}),
        line("response_item", {"type": "message", "role": "user", "content": [{"text": "not for people"}]}),
        said("UserMessage", "please"),
        item("Reasoning", summary=["hm"]),
        said("AgentMessage", "I look"),
        item("CommandExecution", command=["/bin/bash", "-lc", "ls"], aggregated_output="file\n"),
        item("CommandExecution", command=["ls", "-l"], aggregated_output=None),
        item("FileChange", changes={"a.py": {}, "b.py": {}}),
        item("WebSearch", query="weather"),
        line("event_msg", {"type": "turn_aborted", "reason": "interrupted"}),
        line("event_msg", {"type": "task_complete", "error": {"message": "429"}}),
        line("event_msg", {"type": "task_complete", "error": None}),
        b'{"type":"event_msg","payload":{"torn',
        b"[1, 2]",
        line("event_msg", "strange"),
        item("UserMessage", content={"strange": 1}),
    ]
    assert [(one.role, one.text) for one in read_turns(lines)] == [
        ("user", "please"),
        ("agent", "I look"),
        ("tool", "$ ls"),
        ("tool", "file\n"),
        ("tool", "$ ls -l"),
        ("tool", ""),
        ("tool", "changed a.py, b.py"),
        ("tool", "WebSearch: {'query': 'weather'}"),
        ("tool", "(the turn was interrupted)"),
        ("tool", "(the turn failed: 429)"),
    ]
    assert next(iter(read_turns(lines))).at == pytest.approx(1794801600.5)


def test_each_answer_is_counted_once_with_the_model_of_its_turn() -> None:
    lines = [
        turn("t1", "gpt-5.1"),
        spent(1, input_tokens=100, cached_input_tokens=60, cache_write_input_tokens=10, output_tokens=7),
        spent(1, input_tokens=100, cached_input_tokens=60, cache_write_input_tokens=10, output_tokens=7),
        turn("t2", "o3"),
        spent(2, "t2", input_tokens=-5, output_tokens=2),
        b"torn",
    ]
    at = 1794801600.5
    assert read_spendings(b"\n".join(lines)) == [
        Spending(at, "gpt-5.1", 30, 7, cache_read_tokens=60, cache_write_tokens=10),
        Spending(at, "o3", 0, 2),
    ]


def test_a_torn_session_file_tells_what_is_left_of_it(agent: AgentSpec, host: LocalHost) -> None:
    path = session(agent, host)
    lines = (
        turn("t1", "o3"),
        said("UserMessage", "hello"),
        spent(1, output_tokens=4),
        said("AgentMessage", "x" * 99),
    )
    path.write_bytes(b"\n".join(lines)[:-20])
    assert [one.text for one in TYPE.transcript(agent, host)] == ["hello"]
    assert TYPE.usage(agent, host).output_tokens == 4


def test_of_a_huge_session_file_only_the_end_is_read(agent: AgentSpec, host: LocalHost) -> None:
    path = session(agent, host)
    with path.open("wb") as file:
        file.write(said("UserMessage", "first") + b"\n" + spent(1, output_tokens=4) + b"\n")
        file.truncate(500 << 20)
        file.seek(0, os.SEEK_END)
        end = (b"", said("UserMessage", "the last"), turn("t1", "o3"), spent(2, output_tokens=6), b"")
        file.write(b"\n".join(end))
    turns = list(TYPE.transcript(agent, host))
    assert turns == [
        Turn("tool", "(the first 492 MB of the conversation are left out)"),
        Turn("user", "the last", 1794801600.5),
    ]
    assert TYPE.usage(agent, host).output_tokens == 6


def test_an_agent_that_said_nothing_yet_has_an_empty_conversation(agent: AgentSpec, host: LocalHost) -> None:
    assert list(TYPE.transcript(agent, host)) == []
    assert TYPE.usage(agent, host).output_tokens == 0
    TYPE.copy_conversation(agent, new_spec(TYPE, host, ()), host)
    assert TYPE.resume_command(agent, host) == TYPE.command(agent, host)


def test_a_clone_has_the_conversation_and_not_its_cost(agent: AgentSpec, host: LocalHost) -> None:
    path, clone = session(agent, host), new_spec(TYPE, host, ())
    path.write_bytes(
        b"\n".join((said("UserMessage", "hello"), turn("t1", "o3"), spent(1, output_tokens=4), b""))
    )
    TYPE.copy_conversation(agent, clone, host)
    assert [one.text for one in TYPE.transcript(clone, host)] == ["hello"]
    assert TYPE.usage(clone, host).output_tokens == 0
    copy = host.read(f"{home_of(clone, host)}/session").decode().strip()
    with open(f"{home_of(clone, host)}/{copy}", "ab") as file:
        file.write(turn("t2", "o3") + b"\n" + spent(2, "t2", output_tokens=9) + b"\n")
    assert TYPE.usage(clone, host).output_tokens == 9
    assert TYPE.resume_command(clone, host).argv[2:4] == ("resume", THREAD)
