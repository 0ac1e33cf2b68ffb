"""OpenAI's Responses API."""

from collections.abc import Iterator
from typing import Any

import msgspec
from tests.support.model.script import Asked, Fault, Reply, is_reminder, new_id, tokens_of

Event = tuple[str, dict[str, Any]]


def read(body: dict[str, Any], headers: dict[str, str]) -> Asked:
    given = body.get("input", "")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    prompt, step = _prompt(items)
    return Asked(
        api="responses",
        prompt=prompt,
        system=str(body.get("instructions") or ""),
        step=step,
        has_tools=bool(body.get("tools")),
        stream=bool(body.get("stream")),
        model=str(body.get("model", "")),
        body=body,
        headers=headers,
    )


def whole(reply: Reply, asked: Asked) -> dict[str, Any]:
    return _response(reply, asked, _items(reply))


def events(reply: Reply, asked: Asked) -> Iterator[Event]:
    items = _items(reply)
    response = _response(reply, asked, items)
    yield "response.created", {"response": {**response, "status": "in_progress", "output": [], "usage": None}}
    for index, item in enumerate(items):
        begun = {**item, "status": "in_progress"}
        yield "response.output_item.added", {"output_index": index, "item": begun}
        if item["type"] == "message":
            place = {"item_id": item["id"], "output_index": index, "content_index": 0}
            yield "response.output_text.delta", {**place, "delta": reply.text}
        yield "response.output_item.done", {"output_index": index, "item": item}
    yield "response.completed", {"response": response}


def encode(event: Event) -> bytes:
    name, data = event
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode({"type": name, **data}))


def error(fault: Fault) -> dict[str, Any]:
    status = fault.status
    kind = fault.kind or {400: "invalid_request_error", 429: "rate_limit_exceeded", 529: "overloaded"}.get(
        status, "server_error"
    )
    return {"error": {"type": kind, "code": kind, "message": fault.message or f"scripted {status}"}}


def _prompt(items: list[dict[str, Any]]) -> tuple[str, int]:
    """The last text of a person, and how many answers follow it: one before each result of tools, or a text."""
    step, was_result, was_call = 0, False, False
    for item in reversed(items):
        is_result = str(item.get("type", "")).endswith("_output")
        step += is_result and not was_result
        was_result = is_result
        if item.get("role") == "assistant" and not was_call:
            step += 1
        was_call = str(item.get("type", "")).endswith("_call")
        texts = [text for text in _texts(item.get("content", "")) if not _is_context(text)]
        if item.get("role") == "user" and texts:
            return texts[-1], step
    return "", step


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [str(part["text"]) for part in content or () if "text" in part]


def _is_context(text: str) -> bool:
    return is_reminder(text) or text.lstrip().startswith(("<environment_context>", "<user_instructions>"))


def _items(reply: Reply) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.text or not reply.calls:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        items.append(
            {
                "type": "message",
                "id": new_id("msg"),
                "role": "assistant",
                "status": "completed",
                "content": content,
            }
        )
    for call in reply.calls:
        identity = {"id": new_id("fc"), "call_id": new_id("call")}
        arguments = msgspec.json.encode(call.input).decode()
        items.append({"type": "function_call", **identity, "name": call.name, "arguments": arguments})
    return items


def _response(reply: Reply, asked: Asked, items: list[dict[str, Any]]) -> dict[str, Any]:
    tokens = tokens_of(reply, asked)
    usage = {
        "input_tokens": tokens.input + tokens.cache_read,
        "input_tokens_details": {"cached_tokens": tokens.cache_read},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens.input + tokens.cache_read + tokens.output,
    }
    return {
        "id": new_id("resp"),
        "object": "response",
        "created_at": 0,
        "model": asked.model,
        "status": "completed",
        "output": items,
        "usage": usage,
    }
