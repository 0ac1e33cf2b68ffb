"""The agent type `counter`: counts the messages it gets and ends at a number."""

from mngr.plugin import (
    AgentPane,
    AgentSpec,
    Command,
    CommandType,
    Evidence,
    Host,
    HostPaths,
    Phase,
    Receipt,
    Usage,
    UsageError,
)

_PROGRAM = b"""n=0
echo "counting to $1"
while [ "$n" -lt "$1" ] && read -r line; do
  n=$((n + 1))
  echo "$n: $line"
done
"""


class CounterType:
    """`mngr create NAME counter -- 3`"""

    name = "counter"

    def __init__(self) -> None:
        self._plain = CommandType()

    def prepare(self, agent: AgentSpec, host: Host) -> None:
        host.write(_program(agent, host), _PROGRAM)

    def command(self, agent: AgentSpec, host: Host) -> Command:
        match agent.argv:
            case [number] if number.isdecimal():
                return Command(("sh", _program(agent, host), number))
        raise UsageError("a counter takes one number", hint=f"mngr create {agent.name} counter -- 3")

    def phase(self, evidence: Evidence, now: float) -> Phase:
        return self._plain.phase(evidence, now)

    def send(self, pane: AgentPane, message: bytes) -> Receipt:
        return self._plain.send(pane, message)

    def usage(self, agent: AgentSpec, host: Host) -> Usage:
        return self._plain.usage(agent, host)


def _program(agent: AgentSpec, host: Host) -> str:
    return f"{HostPaths(host.dir).agent(agent.id).dir}/counter.sh"
