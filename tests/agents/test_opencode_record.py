"""What the plugin writes down of OpenCode: conversation, tokens, and records that are torn or huge."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mngr.agents.opencode.home import home_of
from mngr.agents.opencode.session import read_spendings, read_turns
from mngr.agents.opencode.type import OpenCodeType
from mngr.agents.prices import cost_usd
from mngr.hosts.local import LocalHost
from mngr.model.agent import AgentSpec
from mngr.model.message import Spending, Turn
from mngr.testing.agents import new_spec

pytestmark = pytest.mark.accept("K14")
TYPE = OpenCodeType()
SESSION = "ses_e1d1380b8ffeoDwS9JstP77X6Z"
DATABASE = f"SQLite\0{SESSION}\0".encode()


def line(**entry: Any) -> bytes:
    return json.dumps({**entry, "at": 1000.5}, separators=(",", ":")).encode()


def said(role: str, text: str, session: str = SESSION) -> bytes:
    return line(type="turn", role=role, text=text, session=session)


def spent(name: str, **tokens: Any) -> bytes:
    return line(type="spending", id=name, model="gpt-5.1", provider="openai", tokens=tokens, cost=0.25)


@pytest.fixture
def agent(host: LocalHost) -> AgentSpec:
    return new_spec(TYPE, host, ())


def record(agent: AgentSpec, host: LocalHost) -> Path:
    home = home_of(agent, host)
    host.write(f"{home}/session", f"{SESSION}\n".encode())
    host.write(f"{home}/data/opencode/opencode.db", DATABASE)
    return Path(home) / "record.jsonl"


def test_only_the_last_conversation_is_told_and_bad_lines_are_passed_over() -> None:
    lines = [
        said("user", "long ago", "ses_other"),
        said("user", "please"),
        said("agent", "I look"),
        said("tool", "bash: ls"),
        said("nobody", "x"),
        spent("p1", input=1),
        b'{"type":"turn","role":"user","te',
        b"[1, 2]",
        line(type="turn", role="agent", text="at last", session=SESSION, at="strange"),
    ]
    assert list(read_turns(lines, SESSION)) == [
        Turn("user", "please", 1000.5),
        Turn("agent", "I look", 1000.5),
        Turn("tool", "bash: ls", 1000.5),
        Turn("agent", "at last", 1000.5),
    ]


def test_each_answer_is_counted_once_thoughts_included() -> None:
    tokens = {"input": 100, "output": 7, "reasoning": 3, "cache": {"read": 60, "write": 10}}
    lines = [spent("p1", **tokens), spent("p1", **tokens), spent("p2", input=-5, output="many"), b"torn"]
    assert read_spendings(b"\n".join(lines)) == [
        Spending(1000.5, "gpt-5.1", 100, 10, cache_read_tokens=60, cache_write_tokens=10, own_cost_usd=0.25),
        Spending(1000.5, "gpt-5.1", own_cost_usd=0.25),
    ]


@pytest.mark.accept("O1")
def test_the_programs_own_reckoning_counts_only_where_no_price_is_known() -> None:
    assert cost_usd(Spending(0.0, "gpt-5.1", 1_000_000, own_cost_usd=9.0)) == 1.25
    assert cost_usd(Spending(0.0, "from-a-garage", 1_000_000, own_cost_usd=9.0)) == 9.0
    assert cost_usd(Spending(0.0, "from-a-garage", 1_000_000)) is None


def test_of_a_huge_record_only_the_end_is_read(agent: AgentSpec, host: LocalHost) -> None:
    path = record(agent, host)
    with path.open("wb") as file:
        file.write(said("user", "first") + b"\n" + spent("p1", output=4) + b"\n")
        file.truncate(500 << 20)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + said("user", "the last") + b"\n" + spent("p2", output=6) + b"\n")
    assert list(TYPE.transcript(agent, host)) == [
        Turn("tool", "(the first 492 MB of the conversation are left out)"),
        Turn("user", "the last", 1000.5),
    ]
    assert TYPE.usage(agent, host).output_tokens == 6


@pytest.mark.parametrize("database", [b"", b"SQLite\0cut off before the conve"])
def test_what_its_database_does_not_hold_is_not_gone_on_with(
    agent: AgentSpec, host: LocalHost, database: bytes
) -> None:
    record(agent, host).write_bytes(said("user", "hello") + b"\n")
    assert TYPE.resume_command(agent, host).argv[2:] == ("--session", SESSION)
    host.write(f"{home_of(agent, host)}/data/opencode/opencode.db", database)
    assert TYPE.resume_command(agent, host) == TYPE.command(agent, host)
    assert list(TYPE.transcript(agent, host)) == []


def test_an_agent_that_said_nothing_yet_has_an_empty_conversation(agent: AgentSpec, host: LocalHost) -> None:
    assert list(TYPE.transcript(agent, host)) == []
    assert TYPE.usage(agent, host).output_tokens == 0
    TYPE.copy_conversation(agent, new_spec(TYPE, host, ()), host)
    assert TYPE.resume_command(agent, host) == TYPE.command(agent, host)


def test_a_clone_has_the_conversation_and_not_its_cost(agent: AgentSpec, host: LocalHost) -> None:
    path, clone = record(agent, host), new_spec(TYPE, host, ())
    path.write_bytes(said("user", "hello") + b"\n" + spent("p1", output=4) + b"\n")
    TYPE.copy_conversation(agent, clone, host)
    assert [turn.text for turn in TYPE.transcript(clone, host)] == ["hello"]
    assert TYPE.usage(clone, host).output_tokens == 0
    with open(f"{home_of(clone, host)}/record.jsonl", "ab") as file:
        file.write(spent("p2", output=9) + b"\n")
    assert TYPE.usage(clone, host).output_tokens == 9
    assert host.read(f"{home_of(clone, host)}/data/opencode/opencode.db") == DATABASE
    assert TYPE.resume_command(clone, host).argv[2:] == ("--session", SESSION)
