"""Agent types from config."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mngr.agents.claude.type import ClaudeType
from mngr.agents.command import CommandType
from mngr.agents.custom import CustomType, custom_type
from mngr.agents.protocol import AgentType, Metered, Resumable, Transcribed
from mngr.agents.scripted.type import ScriptedType
from mngr.errors import UsageError
from mngr.hosts.local import LocalHost
from mngr.model.message import Delivery
from mngr.process import wait_until
from mngr.testing.agents import new_spec, running
from mngr.testing.waiting import PATIENCE_S

DOCUMENT = Path(__file__).parents[2] / "docs/agents.md"
PARENTS: dict[str, Callable[[], AgentType]] = {"command": CommandType, "scripted": ScriptedType}


def made(name: str = "mine", **table: Any) -> AgentType:
    return custom_type(name, table, lambda parent: PARENTS[parent]())


def test_its_words_come_before_the_agents_own(host: LocalHost) -> None:
    kind = made(command="printf '%s|'", args=["a b"], env={"X": "$(no)"})
    command = kind.command(new_spec(kind, host, ("c", "d e")), host)
    assert command.argv == ("printf", "%s|", "a b", "c", "d e")
    assert command.env == {"X": "$(no)"}
    assert kind.name == "mine"


def test_it_runs_and_is_talked_to_as_its_parent(host: LocalHost) -> None:
    kind = made(command=["sh", "-c"], env={"OUT": "taken"})
    with running(kind, host, ('exec cat >"$OUT"',)) as agent:
        assert kind.send(agent.pane, b"hello").status is Delivery.DELIVERED
        path = f"{agent.spec.work_dir}/taken"
        assert wait_until(lambda: host.read(path) == b"hello\n", PATIENCE_S)


@pytest.mark.accept("K14")
def test_it_has_the_powers_of_its_parent_and_no_others(host: LocalHost) -> None:
    plain, scripted = made(command="cat"), made(parent="scripted", env={"NO_COLOR": "1"})
    assert not isinstance(plain, Transcribed)
    assert not isinstance(plain, Resumable)
    assert isinstance(scripted, Transcribed)
    assert isinstance(scripted, Resumable)
    spec = new_spec(scripted, host, ())
    assert scripted.resume_command(spec, host) == scripted.command(spec, host)
    assert scripted.command(spec, host).env == {"NO_COLOR": "1"}
    with running(scripted, host, ()) as agent:
        assert scripted.send(agent.pane, b"hello").status is Delivery.DELIVERED
        assert next(turn.text for turn in scripted.transcript(agent.spec, host)) == "hello"


@pytest.mark.accept("K14", "O1")
def test_what_it_spends_is_read_as_its_parent_does(host: LocalHost) -> None:
    kind: AgentType = CustomType("mine", ClaudeType(), (), {})
    spec = new_spec(kind, host, ())
    assert isinstance(kind, Metered)
    assert kind.usage_script(spec, host.dir) == ClaudeType().usage_script(spec, host.dir)
    assert kind.read_usage(b"") == []
    assert not isinstance(made(command="cat"), Metered)


@pytest.mark.accept("Q7")
@pytest.mark.parametrize(
    ("name", "table", "said", "hint"),
    [
        ("mine", {"command": "x", "parent": "comand"}, "comand", '"command"'),
        ("mine", {"command": "it's"}, "cannot be read", "close its quotes"),
        ("scripted", {"command": "x"}, "is there already", "another name"),
    ],
)
def test_a_bad_table_is_named(name: str, table: dict[str, Any], said: str, hint: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        made(name, **table)
    assert hint in caught.value.hint


def test_without_any_word_it_says_what_is_missing(host: LocalHost) -> None:
    kind = made()
    with pytest.raises(UsageError, match="no command"):
        kind.command(new_spec(kind, host, ()), host)


@pytest.mark.accept("K14")
def test_the_five_lines_of_the_documentation_are_a_type(host: LocalHost) -> None:
    (lines,) = re.findall(r"^```toml\n(\[agent_types.*?)```", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
    ((name, table),) = tomllib.loads(lines)["agent_types"].items()
    kind = custom_type(name, table, lambda parent: {"claude": ClaudeType()}[parent])
    command = kind.command(new_spec(kind, host, ("--verbose",)), host)
    assert len(lines.splitlines()) == 5
    assert command.argv[-5:] == (*table["args"], "--verbose")
    assert command.env["BASH_DEFAULT_TIMEOUT_MS"] == "60000"
    assert isinstance(kind, Transcribed)
    assert isinstance(kind, Resumable)
    assert isinstance(kind, Metered)
