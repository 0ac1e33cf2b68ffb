"""Claude Code's session files: the conversation and what each answer cost. Only the end of a large one is read."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from mngr.agents.claude.home import home_of
from mngr.agents.shared.jsonl import count, inner, read_tail, seconds, spendings_lines, table
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.message import Spending, Turn
from mngr.sh.program import READ_AND_RUN, encode, quote
from mngr.store.paths import HostPaths

TRANSCRIPT_LIMIT = 8 << 20
USAGE_LIMIT = 64 << 20
_TEXT_LIMIT = 64 << 10
_INTERRUPTED = "[Request interrupted by user"


def session_file(agent: AgentSpec, host: Host) -> str:
    """The file of its last conversation, if it has begun one."""
    try:
        path = host.read(f"{home_of(agent, host)}/session").decode("utf-8", "surrogateescape").rstrip("\n")
    except FileNotFoundError:
        return ""
    return path if path and host.run(("test", "-s", path)).code == 0 else ""


def resume_words(agent: AgentSpec, host: Host) -> tuple[str, ...]:
    """What makes the program go on with the last conversation; nothing when there is none."""
    path = session_file(agent, host)
    return ("--resume", path) if path else ()


def turns(agent: AgentSpec, host: Host) -> list[Turn]:
    """The conversation; of one past 8 MB the last part, which says so."""
    path = session_file(agent, host)
    if not path:
        return []
    tail = read_tail(host, path, TRANSCRIPT_LIMIT)
    return [*tail.note(), *read_turns(tail.lines)]


def read_turns(lines: Iterable[bytes]) -> Iterator[Turn]:
    """What was said, by whom; torn and foreign lines are passed over."""
    for entry in _in_order([table(line) for line in lines]):
        if entry.get("isMeta") or entry.get("isSidechain"):
            continue
        at = seconds(entry.get("timestamp"))
        attached = entry.get("attachment")
        if entry.get("type") in ("user", "assistant"):
            message = entry.get("message")
            content = message.get("content") if isinstance(message, dict) else None
            yield from _spoken(str(entry["type"]), content, at)
        elif isinstance(attached, dict) and attached.get("type") == "queued_command":
            yield from _spoken("user", attached.get("prompt"), at)


def copy_session(agent: AgentSpec, clone: AgentSpec, host: Host) -> None:
    """Gives the clone its own copy of the last conversation, marked so that what it cost is not counted twice."""
    path, home = session_file(agent, host), home_of(clone, host)
    if not path:
        return
    copy = f"{home}/projects/copied/{path.rpartition('/')[2]}"
    script = f"""\
umask 077
mkdir -p {quote(f"{home}/projects/copied")} && cp -- {quote(path)} {quote(copy)} || exit
wc -c <{quote(copy)} >{quote(f"{copy}.copied")}
printf '%s\\n' {quote(copy)} >{quote(f"{home}/session")}
"""
    host.run(READ_AND_RUN, stdin=encode(script)).check(f'copying the conversation of "{agent.name}"')


def spendings_script(agent: AgentSpec, host_dir: str) -> str:
    """Shell lines that print the lines with token counts of all its sessions, subagents included."""
    sessions = f"{HostPaths(host_dir).agent(agent.id).dir}/claude/projects"
    return spendings_lines(sessions, USAGE_LIMIT, '"usage":[{]')


def read_spendings(output: bytes) -> list[Spending]:
    """A record per answer of the model: several lines may tell of one, and the last has its final count."""
    found: dict[str, Spending] = {}
    for line in output.split(b"\n"):
        entry = table(line)
        message = entry.get("message")
        if entry.get("type") != "assistant" or not isinstance(message, dict):
            continue
        usage, model = message.get("usage"), str(message.get("model", ""))
        if isinstance(usage, dict) and not model.startswith("<"):
            at = seconds(entry.get("timestamp"))
            written = count(usage, "cache_creation_input_tokens")
            for_an_hour = count(inner(usage, "cache_creation"), "ephemeral_1h_input_tokens")
            found[str(message.get("id") or len(found))] = Spending(
                at=at,
                model=model,
                input_tokens=count(usage, "input_tokens"),
                output_tokens=count(usage, "output_tokens"),
                cache_read_tokens=count(usage, "cache_read_input_tokens"),
                cache_write_tokens=max(0, written - for_an_hour),
                cache_write_1h_tokens=for_an_hour,
            )
    return list(found.values())


def _in_order(entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every entry behind the one it follows: now and then the program writes an answer before its question."""
    to_come = {str(entry["uuid"]) for entry in entries if "uuid" in entry}
    early: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        ready = [entry]
        while ready:
            one = ready.pop(0)
            parent, own = str(one.get("parentUuid", "")), str(one.get("uuid", ""))
            if parent in to_come:
                early.setdefault(parent, []).append(one)
                continue
            yield one
            to_come.discard(own)
            ready = early.pop(own, []) + ready
    for left in early.values():
        yield from left


def _spoken(kind: str, content: Any, at: float) -> Iterator[Turn]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks if isinstance(blocks, list) else ():
        turn = _turn(kind, block, at) if isinstance(block, dict) else None
        if turn:
            yield turn


def _turn(kind: str, block: dict[str, Any], at: float) -> Turn | None:
    if block.get("type") == "tool_use":
        given = block.get("input")
        command = given.get("command") if isinstance(given, dict) else None
        shown = command if isinstance(command, str) else msgspec.json.encode(given).decode()
        return Turn("tool", f"{block.get('name')}: {shown}"[:_TEXT_LIMIT], at)
    if block.get("type") == "tool_result":
        content = block.get("content")
        if not isinstance(content, str):
            parts = content if isinstance(content, list) else []
            content = "\n".join(
                str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part
            )
        return Turn("tool", content[:_TEXT_LIMIT], at)
    text = block.get("text")
    if block.get("type") != "text" or not isinstance(text, str) or not text:
        return None
    if kind == "assistant":
        return Turn("agent", text, at)
    return Turn("tool" if text.startswith(_INTERRUPTED) else "user", text, at)
