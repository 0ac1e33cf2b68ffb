"""Codex's session files: the conversation and what each answer cost. Only the end of a large one is read."""

from collections.abc import Iterable, Iterator

from mngr.agents.codex.home import home_of
from mngr.agents.shared.jsonl import count, inner, read_tail, seconds, spendings_lines, table
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.message import Spending, Turn
from mngr.sh.program import READ_AND_RUN, encode, quote
from mngr.store.paths import HostPaths

TRANSCRIPT_LIMIT = 8 << 20
USAGE_LIMIT = 64 << 20
_TEXT_LIMIT = 64 << 10
_ID_LENGTH = 36


def session_file(agent: AgentSpec, host: Host) -> str:
    """The file of its last conversation, if it has begun one."""
    home = home_of(agent, host)
    try:
        name = host.read(f"{home}/session").decode("utf-8", "surrogateescape").rstrip("\n")
    except FileNotFoundError:
        return ""
    path = f"{home}/{name}"
    return path if name and host.run(("test", "-s", path)).code == 0 else ""


def thread_id(agent: AgentSpec, host: Host) -> str:
    """What Codex calls its last conversation; empty when there is none."""
    return session_file(agent, host).removesuffix(".jsonl")[-_ID_LENGTH:]


def resume_words(agent: AgentSpec, host: Host) -> tuple[str, ...]:
    """The last conversation for `launch_argv`; nothing when there is none."""
    thread = thread_id(agent, host)
    return (thread,) if thread else ()


def turns(agent: AgentSpec, host: Host) -> list[Turn]:
    """The conversation; of one past 8 MB the last part, which says so."""
    path = session_file(agent, host)
    if not path:
        return []
    tail = read_tail(host, path, TRANSCRIPT_LIMIT)
    return [*tail.note(), *read_turns(tail.lines)]


def read_turns(lines: Iterable[bytes]) -> Iterator[Turn]:
    """What was said, by whom; torn and foreign lines are passed over."""
    for line in lines:
        entry = table(line)
        payload = inner(entry, "payload")
        at = seconds(entry.get("timestamp"))
        if payload.get("type") == "item_completed":
            item = inner(payload, "item")
            kind = item.get("type")
            if kind in ("UserMessage", "AgentMessage"):
                content = item.get("content")
                parts = content if isinstance(content, list) else []
                texts = [str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part]
                text = "\n".join(texts)
                if text:
                    yield Turn("user" if kind == "UserMessage" else "agent", text, at)
            elif kind == "CommandExecution":
                argv = item.get("command")
                words = [str(word) for word in argv] if isinstance(argv, list) else [str(argv)]
                # What a shell was told, without the shell.
                shown = words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else " ".join(words)
                yield Turn("tool", f"$ {shown}"[:_TEXT_LIMIT], at)
                yield Turn("tool", str(item.get("aggregated_output") or "")[:_TEXT_LIMIT], at)
            elif kind == "FileChange":
                changes = item.get("changes")
                yield Turn("tool", f"changed {', '.join(map(str, changes or ()))}"[:_TEXT_LIMIT], at)
            elif kind not in ("Reasoning", None):
                rest = {name: value for name, value in item.items() if name not in ("type", "id")}
                yield Turn("tool", f"{kind}: {rest}"[:_TEXT_LIMIT], at)
        elif payload.get("type") == "turn_aborted":
            yield Turn("tool", "(the turn was interrupted)", at)
        elif payload.get("type") == "task_complete" and payload.get("error"):
            yield Turn(
                "tool", f"(the turn failed: {inner(payload, 'error').get('message')})"[:_TEXT_LIMIT], at
            )


def copy_session(agent: AgentSpec, clone: AgentSpec, host: Host) -> None:
    """Gives the clone its own copy of the last conversation, marked so that what it cost is not counted twice."""
    path, home = session_file(agent, host), home_of(clone, host)
    if not path:
        return
    name = f"sessions/copied/{path.rpartition('/')[2]}"
    copy = f"{home}/{name}"
    script = f"""\
umask 077
mkdir -p {quote(f"{home}/sessions/copied")} && cp -- {quote(path)} {quote(copy)} || exit
wc -c <{quote(copy)} >{quote(f"{copy}.copied")}
printf '%s\\n' {quote(name)} >{quote(f"{home}/session")}
"""
    host.run(READ_AND_RUN, stdin=encode(script)).check(f'copying the conversation of "{agent.name}"')


def spendings_script(agent: AgentSpec, host_dir: str) -> str:
    """Shell lines that print the lines with token counts, and with models, of all its sessions."""
    sessions = f"{HostPaths(host_dir).agent(agent.id).dir}/codex/sessions"
    return spendings_lines(sessions, USAGE_LIMIT, '"type":"(token_usage_record|turn_context)"')


def read_spendings(output: bytes) -> list[Spending]:
    """A record per answer of the model; which model it was, the turn's own record says."""
    models: dict[str, str] = {}
    found: dict[str, Spending] = {}
    for line in output.split(b"\n"):
        entry = table(line)
        payload = inner(entry, "payload")
        turn = str(payload.get("turn_id", ""))
        if entry.get("type") == "turn_context":
            models[turn] = str(payload.get("model", ""))
        elif entry.get("type") == "token_usage_record":
            key = str(payload.get("response_id") or len(found))
            # Codex counts what came from a cache, or went into it, as input too.
            model = models.get(turn, "")
            usage = inner(payload, "usage")
            at = seconds(entry.get("timestamp"))
            read, written = count(usage, "cached_input_tokens"), count(usage, "cache_write_input_tokens")
            found[key] = Spending(
                at=at,
                model=model,
                input_tokens=max(0, count(usage, "input_tokens") - read - written),
                output_tokens=count(usage, "output_tokens"),
                cache_read_tokens=read,
                cache_write_tokens=written,
            )
    return list(found.values())
