"""Filters: which agents a command means."""

from fnmatch import fnmatchcase
from typing import Any

import msgspec
from msgspec import Struct

from mngr.errors import UsageError, did_you_mean
from mngr.model.agent import Agent, AgentState
from mngr.model.host import HostRef

_AGENT_FIELDS = tuple(field.name for field in msgspec.structs.fields(Agent))
FIELDS = (*_AGENT_FIELDS, *(f"host.{field.name}" for field in msgspec.structs.fields(HostRef)))

_LIVE = (AgentState.CREATING, AgentState.RUNNING, AgentState.WAITING)
_ENDED = (AgentState.STOPPED, AgentState.DONE)


class Filter(Struct, frozen=True):
    """All conditions must hold. `where` holds `field=value`, `field!=value` and `field~glob`."""

    where: tuple[str, ...] = ()
    running: bool = False
    stopped: bool = False
    labels: tuple[str, ...] = ()
    project: str = ""
    provider: str = ""
    host: str = ""

    @property
    def is_empty(self) -> bool:
        return self == Filter()

    def check(self) -> "Filter":
        for condition in self.where:
            parse_condition(condition)
        return self

    def matches(self, agent: Agent) -> bool:
        return (
            all(condition_holds(condition, agent) for condition in self.where)
            and (not self.running or agent.state in _LIVE)
            and (not self.stopped or agent.state in _ENDED)
            and all(
                key in agent.labels and (not equals or agent.labels[key] == value)
                for key, equals, value in (label.partition("=") for label in self.labels)
            )
            and (not self.project or agent.project == self.project)
            and (not self.provider or agent.host.provider == self.provider)
            and (not self.host or agent.host.name == self.host)
        )


def parse_condition(text: str) -> tuple[str, str, str]:
    """`state!=DONE` → (`state`, `!=`, `DONE`)."""
    for index, char in enumerate(text):
        if char in "=~!":
            operator = "!=" if char == "!" else char
            if text[index : index + len(operator)] != operator or index == 0:
                break
            value = text[index + len(operator) :]
            return (
                check_field(text[:index].strip()),
                operator,
                value.removeprefix("=") if char == "=" else value,
            )
    raise UsageError(f'"{text}" is not a condition', hint="write field=value, field!=value or field~glob")


def check_field(name: str) -> str:
    """The field itself; an unknown one is an error that names the nearest."""
    if name in FIELDS or name.startswith("labels."):
        return name
    raise UsageError(f'agents have no field "{name}"', hint=did_you_mean(name, FIELDS))


def field_value(agent: Agent, name: str) -> Any:
    """The value of a checked field; a label that is not there is None."""
    if name.startswith("labels."):
        return agent.labels.get(name.removeprefix("labels."))
    value: Any = agent
    for part in name.split("."):
        value = getattr(value, part)
    return value


def condition_holds(text: str, agent: Agent) -> bool:
    name, operator, expected = parse_condition(text)
    value = as_text(field_value(agent, name))
    if name == "state" or name == "host.state":
        expected = expected.upper()
    if operator == "~":
        return fnmatchcase(value, expected)
    return (value == expected) == (operator == "=")


def as_text(value: Any) -> str:
    """A value as conditions and templates see it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | float):
        return str(value)
    return msgspec.json.encode(value).decode()
