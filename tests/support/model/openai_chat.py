"""OpenAI's Chat Completions API."""

from collections.abc import Iterator
from typing import Any

import msgspec
from tests.support.model.script import Asked, Fault, Reply, is_reminder, new_id, tokens_of

Event = dict[str, Any] | None


def read(body: dict[str, Any], headers: dict[str, str]) -> Asked:
    messages = body.get("messages", [])
    system = [
        text for each in messages if each.get("role") in ("system", "developer") for text in _texts(each)
    ]
    prompt, step = _prompt(messages)
    return Asked(
        api="chat",
        prompt=prompt,
        system="\n".join(system),
        step=step,
        has_tools=bool(body.get("tools")),
        stream=bool(body.get("stream")),
        model=str(body.get("model", "")),
        body=body,
        headers=headers,
    )


def whole(reply: Reply, asked: Asked) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text or None, "tool_calls": _calls(reply) or None}
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply)}
    return {**_head(asked, "chat.completion"), "choices": [choice], "usage": _usage(reply, asked)}


def events(reply: Reply, asked: Asked) -> Iterator[Event]:
    head = _head(asked, "chat.completion.chunk")
    yield {**head, "choices": [_delta({"role": "assistant", "content": reply.text})]}
    for index, call in enumerate(_calls(reply)):
        yield {**head, "choices": [_delta({"tool_calls": [{"index": index, **call}]})]}
    yield {**head, "choices": [{**_delta({}), "finish_reason": _finish(reply)}]}
    if (asked.body.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": _usage(reply, asked)}
    yield None


def encode(event: Event) -> bytes:
    return b"data: %s\n\n" % (b"[DONE]" if event is None else msgspec.json.encode(event))


def error(fault: Fault) -> dict[str, Any]:
    status = fault.status
    kind = fault.kind or {400: "invalid_request_error", 429: "rate_limit_exceeded", 529: "overloaded"}.get(
        status, "server_error"
    )
    return {"error": {"type": kind, "code": kind, "message": fault.message or f"scripted {status}"}}


def _prompt(messages: list[dict[str, Any]]) -> tuple[str, int]:
    """The last text of a person, and how many answers follow it."""
    step = 0
    for message in reversed(messages):
        if message.get("role") == "assistant":
            step += 1
        texts = [text for text in _texts(message) if not is_reminder(text)]
        if message.get("role") == "user" and texts:
            return texts[-1], step
    return "", step


def _texts(message: dict[str, Any]) -> list[str]:
    content = message.get("content") or ""
    return (
        [content] if isinstance(content, str) else [str(part["text"]) for part in content if "text" in part]
    )


def _calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "id": new_id("call"),
            "type": "function",
            "function": {"name": call.name, "arguments": msgspec.json.encode(call.input).decode()},
        }
        for call in reply.calls
    ]


def _delta(delta: dict[str, Any]) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": None}


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _head(asked: Asked, kind: str) -> dict[str, Any]:
    return {"id": new_id("chatcmpl"), "object": kind, "created": 0, "model": asked.model}


def _usage(reply: Reply, asked: Asked) -> dict[str, Any]:
    tokens = tokens_of(reply, asked)
    prompt = tokens.input + tokens.cache_read
    return {
        "prompt_tokens": prompt,
        "completion_tokens": tokens.output,
        "total_tokens": prompt + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read},
    }
