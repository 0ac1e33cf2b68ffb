"""Reads an event `api_error`: which kind of error of the model it tells of. Imported when there is one."""

from collections.abc import Mapping
from typing import Any

from mngr.model.agent import ErrorKind, ModelError

_LONGEST = 500
# What programs and providers call their errors. Those of the last three lines may pass.
_NAMES: dict[str, ErrorKind] = {
    **dict.fromkeys(("authentication_failed", "authentication_error", "invalid_api_key"), "authentication"),
    **dict.fromkeys(("billing_error", "insufficient_quota", "billing_not_active"), "billing"),
    **dict.fromkeys(("permission_error", "oauth_org_not_allowed"), "permission"),
    **dict.fromkeys(("model_not_found", "not_found_error"), "model"),
    **dict.fromkeys(("rate_limit", "rate_limit_error", "rate_limit_exceeded"), "rate_limit"),
    **dict.fromkeys(("overloaded", "overloaded_error"), "rate_limit"),
    **dict.fromkeys(("server_error", "max_output_tokens"), "other"),
}
_STATUSES: dict[int, ErrorKind] = {
    401: "authentication",
    402: "billing",
    403: "permission",
    404: "model",
    429: "rate_limit",
    529: "rate_limit",
}
# In a text, in lower case. A billing error may come with the status of another error.
_PHRASES: tuple[tuple[str, ErrorKind], ...] = (
    ("credit balance is too low", "billing"),
    ("insufficient_quota", "billing"),
    ("exceeded your current quota", "billing"),
    ("disabled organization", "permission"),
    ("organization has been disabled", "permission"),
    ("invalid api key", "authentication"),
    ("invalid x-api-key", "authentication"),
    ("incorrect api key", "authentication"),
    ("not logged in", "authentication"),
    ("api key is missing", "authentication"),
    ("rate limit", "rate_limit"),
    ("usage limit", "rate_limit"),
    ("hit your limit", "rate_limit"),
    ("session limit", "rate_limit"),
    ("limit reached", "rate_limit"),
    ("too many requests", "rate_limit"),
)


def model_error(data: Mapping[str, Any]) -> ModelError:
    """Reads the data of an event `api_error`: `error` is a name or a text, `message` and `status` may say more."""
    name, message = str(data.get("error") or ""), str(data.get("message") or "")
    status = data.get("status")
    text = f"{name} {message}" if message else name
    line = " ".join((message or name or "an error without a text").split())
    shown = "".join(char for char in line if char.isprintable())[:_LONGEST]
    return ModelError(error_kind(name, status if isinstance(status, int) else 0, text), shown)


_BEFORE_STATUS = ("status ", "status code ", "status: ", "error ", "error: ")


def error_kind(name: str, status: int, text: str) -> ErrorKind:
    """The kind of an error by its name, else by its text, else by the HTTP status; all may be empty or 0."""
    if name in _NAMES:
        return _NAMES[name]
    lower = text.lower()
    for phrase, kind in _PHRASES:
        if phrase in lower:
            return kind
    if not status:
        # Named in one of the usual ways, or the first word of the text.
        named = [lower.partition(before)[2][:3] for before in _BEFORE_STATUS]
        starts = lower[:3] if len(lower) > 3 and not lower[3].isalnum() else ""
        numbers = [number for number in (*named, starts) if len(number) == 3 and number.isdecimal()]
        status = int(numbers[0]) if numbers else 0
    return _STATUSES.get(status, "other")
