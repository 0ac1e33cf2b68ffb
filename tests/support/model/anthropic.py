"""Anthropic's Messages API."""

from collections.abc import Iterator
from typing import Any

import msgspec
from tests.support.model.script import Asked, Fault, Reply, Tokens, is_reminder, new_id, tokens_of

Event = tuple[str, dict[str, Any]]


def read(body: dict[str, Any], headers: dict[str, str]) -> Asked:
    prompt, step = _prompt(body.get("messages", []))
    return Asked(
        api="anthropic",
        prompt=prompt,
        system="\n".join(_texts(body.get("system", ""))),
        step=step,
        has_tools=bool(body.get("tools")),
        stream=bool(body.get("stream")),
        model=str(body.get("model", "")),
        body=body,
        headers=headers,
    )


def whole(reply: Reply, asked: Asked) -> dict[str, Any]:
    return {
        **_message(asked),
        "content": _blocks(reply),
        "stop_reason": _stop_reason(reply),
        "usage": _usage(tokens_of(reply, asked)),
    }


def events(reply: Reply, asked: Asked) -> Iterator[Event]:
    """The reply as the stream has it, each event with its name."""
    tokens = tokens_of(reply, asked)
    start = {
        **_message(asked),
        "content": [],
        "stop_reason": None,
        "usage": {**_usage(tokens), "output_tokens": 1},
    }
    yield "message_start", {"message": start}
    for index, block in enumerate(_blocks(reply)):
        if block["type"] == "text":
            empty, deltas = (
                {**block, "text": ""},
                [("text_delta", "text", part) for part in _parts(block["text"])],
            )
        else:
            data = msgspec.json.encode(block["input"]).decode()
            empty, deltas = {**block, "input": {}}, [("input_json_delta", "partial_json", data)]
        yield "content_block_start", {"index": index, "content_block": empty}
        for kind, key, part in deltas:
            yield "content_block_delta", {"index": index, "delta": {"type": kind, key: part}}
        yield "content_block_stop", {"index": index}
    yield (
        "message_delta",
        {"delta": {"stop_reason": _stop_reason(reply), "stop_sequence": None}, "usage": _usage(tokens)},
    )
    yield "message_stop", {}


def encode(event: Event) -> bytes:
    name, data = event
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode({"type": name, **data}))


def error(fault: Fault) -> dict[str, Any]:
    status = fault.status
    kind = fault.kind or {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
    }.get(
        status,
        {404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}.get(status, "api_error"),
    )
    return {
        "type": "error",
        "error": {"type": kind, "message": fault.message or f"scripted {status}"},
        "request_id": "req_scripted",
    }


def _prompt(messages: list[dict[str, Any]]) -> tuple[str, int]:
    """The last text of a person, and how many answers follow it."""
    step = 0
    for message in reversed(messages):
        if message.get("role") == "assistant":
            step += 1
        texts = [text for text in _texts(message.get("content", "")) if not is_reminder(text)]
        if message.get("role") == "user" and texts:
            return texts[-1], step
    return "", step


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [str(block.get("text", "")) for block in content if block.get("type") == "text"]


def _message(asked: Asked) -> dict[str, Any]:
    return {
        "id": new_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "stop_sequence": None,
    }


def _blocks(reply: Reply) -> list[dict[str, Any]]:
    texts = [{"type": "text", "text": reply.text}] if reply.text or not reply.calls else []
    calls = [
        {"type": "tool_use", "id": new_id("toolu"), "name": call.name, "input": call.input}
        for call in reply.calls
    ]
    return texts + calls


def _parts(text: str) -> list[str]:
    """A text as a stream brings it, in pieces."""
    return [text[at : at + 200] for at in range(0, len(text), 200)] or [""]


def _stop_reason(reply: Reply) -> str:
    return "tool_use" if reply.calls else "end_turn"


def _usage(tokens: Tokens) -> dict[str, int]:
    return {
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_read_input_tokens": tokens.cache_read,
        "cache_creation_input_tokens": tokens.cache_write,
    }
