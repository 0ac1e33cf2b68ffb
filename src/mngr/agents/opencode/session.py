"""What the plugin wrote down of OpenCode's conversations: who said what, and what each answer cost."""

from collections.abc import Iterable, Iterator
from typing import Any

from mngr.agents.opencode.home import home_of
from mngr.agents.shared.jsonl import count, inner, read_tail, spendings_lines, table
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.message import Spending, Turn
from mngr.store.paths import HostPaths

TRANSCRIPT_LIMIT = 8 << 20
USAGE_LIMIT = 64 << 20
_ROLES = ("user", "agent", "tool")


def session_id(agent: AgentSpec, host: Host) -> str:
    """What OpenCode calls its last conversation; empty when there is none."""
    try:
        name = host.read(f"{home_of(agent, host)}/session").decode(errors="replace").strip()
    except FileNotFoundError:
        return ""
    if not name.startswith("ses_"):
        return ""
    # OpenCode ends at once when it is to go on with what its database, lost or damaged, does not hold.
    database = f"{home_of(agent, host)}/data/opencode/opencode.db"
    return name if host.run(("grep", "-qsaF", "--", name, database, f"{database}-wal")).code == 0 else ""


def resume_words(agent: AgentSpec, host: Host) -> tuple[str, ...]:
    """What makes the program go on with the last conversation; nothing when there is none."""
    session = session_id(agent, host)
    return ("--session", session) if session else ()


def turns(agent: AgentSpec, host: Host) -> list[Turn]:
    """The last conversation; of a record past 8 MB the last part, which says so."""
    session = session_id(agent, host)
    tail = read_tail(host, f"{home_of(agent, host)}/record.jsonl", TRANSCRIPT_LIMIT)
    return [*tail.note(), *read_turns(tail.lines, session)]


def read_turns(lines: Iterable[bytes], session: str) -> Iterator[Turn]:
    """What was said in one conversation, by whom; torn and foreign lines are passed over."""
    for line in lines:
        entry = table(line)
        if entry.get("type") == "turn" and entry.get("session") == session and entry.get("role") in _ROLES:
            yield Turn(str(entry["role"]), str(entry.get("text", "")), _at(entry))


def spendings_script(agent: AgentSpec, host_dir: str) -> str:
    """Shell lines that print the lines with token counts, helpers of the agent included."""
    record = f"{HostPaths(host_dir).agent(agent.id).dir}/opencode/record.jsonl"
    return spendings_lines(record, USAGE_LIMIT, '^[{]"type":"spending"')


def read_spendings(output: bytes) -> list[Spending]:
    """A record per answer of the model."""
    found: dict[str, Spending] = {}
    for line in output.split(b"\n"):
        entry = table(line)
        if entry.get("type") == "spending":
            # What it thought is counted apart from what it said; both are output.
            tokens = inner(entry, "tokens")
            cache = inner(tokens, "cache")
            cost = entry.get("cost")
            found[str(entry.get("id") or len(found))] = Spending(
                at=_at(entry),
                model=str(entry.get("model", "")),
                input_tokens=count(tokens, "input"),
                output_tokens=count(tokens, "output") + count(tokens, "reasoning"),
                cache_read_tokens=count(cache, "read"),
                cache_write_tokens=count(cache, "write"),
                own_cost_usd=float(cost) if isinstance(cost, int | float) and cost > 0 else None,
            )
    return list(found.values())


def _at(entry: dict[str, Any]) -> float:
    at = entry.get("at")
    return float(at) if isinstance(at, int | float) else 0.0
