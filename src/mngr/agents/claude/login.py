"""What Claude Code needs to reach its model, checked before an agent is launched."""

import http.client
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from mngr.agents.shared.login_file import login_file
from mngr.model.finding import ERROR, WARNING, Finding, LaunchPlan
from mngr.model.model_error import error_kind
from mngr.store.untrusted import decode
from mngr_lib.safe_text import PROBLEM_LIMIT, one_line
from mngr_lib.threads import Future, FutureTimeoutError

NAME = "login of claude"

_BY_KEY = {"ANTHROPIC_API_KEY": "x-api-key", "ANTHROPIC_AUTH_TOKEN": "authorization"}
_OTHER_TOKENS = ("CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR")
_CLOUDS = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")
_PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
_MANAGED = "/etc/claude-code/managed-settings.json"
_API = "https://api.anthropic.com"
# Whether a key works is the same for every model; this one costs least.
_CHEAP_MODEL = "claude-haiku-4-5"
_SOCKET_S, _DEADLINE_S = 5.0, 8.0
_ANSWER_LIMIT = 64 << 10
_FIXES = {
    "authentication": "give a key that is valid: https://console.anthropic.com/settings/keys",
    "billing": "add credit, or use another key: https://console.anthropic.com/settings/billing",
    "permission": "use a key of an organization and workspace that may do this",
    "model": "name a model that this key may use: --arg --model --arg NAME",
}


class LoginReply(Struct, frozen=True):
    """What the API said to one small request; `problem` instead when there was no answer."""

    status: int = 0
    name: str = ""
    message: str = ""
    problem: str = ""


def login_findings(plan: LaunchPlan) -> list[Finding]:
    """Whether an agent would have a login and, where it is a key, whether the API takes it: one request, one token."""
    if any(plan.env.get(name) for name in _CLOUDS):
        return []
    key = next((name for name in _BY_KEY if plan.env.get(name)), "")
    if key:
        return [_try_key(key, plan)]
    if file := login_file(NAME, "MNGR_CLAUDE_CREDENTIALS", plan):
        return [file]
    if token := next((name for name in _OTHER_TOKENS if plan.env.get(name)), ""):
        return [Finding(NAME, True, ERROR, f"{token} is given")]
    if _settings_have_login(plan):
        return [Finding(NAME, True, ERROR, "the settings of the project or of this machine say how")]
    fix = "export ANTHROPIC_API_KEY=... and add --env ANTHROPIC_API_KEY (or CLAUDE_CODE_OAUTH_TOKEN)"
    if name := next((name for name in (*_BY_KEY, *_OTHER_TOKENS[:1]) if name in plan.names_here), ""):
        fix = f"{name} is set here; agents get what you name: --env {name}"
    return [Finding(NAME, False, ERROR, "no key and no login is given to the agents", fix)]


def _settings_have_login(plan: LaunchPlan) -> bool:
    """Whether settings that an agent reads name a program or a variable for its key."""
    paths = [os.path.join(plan.source, ".claude", "settings.json")] if plan.source else []
    for path in (*paths, *((_MANAGED,) if plan.is_here else ())):
        try:
            with open(path, "rb") as file:
                settings = decode(file.read(), dict[str, Any]) or {}
        except OSError:
            continue
        given = settings.get("env")
        names = (*_BY_KEY, *_OTHER_TOKENS, *_CLOUDS)
        if settings.get("apiKeyHelper") or (isinstance(given, dict) and any(name in given for name in names)):
            return True
    return False


def _try_key(key: str, plan: LaunchPlan) -> Finding:
    url = plan.env.get("ANTHROPIC_BASE_URL") or _API
    if any(name in (*plan.env, *plan.names_here) for name in _PROXIES):
        return Finding(NAME, True, ERROR, f"{key} is given; not tried, as there is a proxy")
    model, is_named = _model(plan)
    env = plan.env
    value = env[key] if _BY_KEY[key] == "x-api-key" else f"Bearer {env[key]}"
    headers = {
        _BY_KEY[key]: value,
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
    }
    answer = _ask(url, headers, model)
    if answer.problem:
        found = f"{key} is given; whether it is accepted could not be asked: {answer.problem}"
        return Finding(NAME, False, WARNING, found, "check the network, or ANTHROPIC_BASE_URL")
    kind = error_kind(answer.name, answer.status, answer.message)
    is_about_model = kind in ("model", "permission") and not is_named
    if answer.status == 200 or is_about_model:
        return Finding(NAME, True, ERROR, f"{key} is accepted")
    shown = f"{answer.status} {one_line(answer.message or answer.name, PROBLEM_LIMIT)}".strip()
    if kind in ("rate_limit", "other"):
        return Finding(
            NAME, False, WARNING, f"the model answers: {shown}", "agents wait and try again by themselves"
        )
    return Finding(NAME, False, ERROR, f"the model refuses {key}: {shown}", _FIXES[kind])


def _model(plan: LaunchPlan) -> tuple[str, bool]:
    """The model to ask, and whether it is the one the agents are told to use; short names are Claude Code's own."""
    named = plan.env.get("ANTHROPIC_MODEL", "")
    words = iter(plan.argv)
    for word in words:
        name, _, value = word.partition("=")
        if name == "--model":
            named = value or next(words, "")
    named = named.partition("[")[0]
    return (named, True) if "-" in named else (_CHEAP_MODEL, False)


def _ask(url: str, headers: Mapping[str, str], model: str) -> LoginReply:
    """One request for one token. It follows no redirect: the key is for this server only."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return LoginReply(problem=f"{one_line(url, PROBLEM_LIMIT)} is no address of a server")
    make = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    messages = [{"role": "user", "content": "LoginReply with a dot."}]
    body = msgspec.json.encode({"model": model, "max_tokens": 1, "messages": messages})

    def request() -> LoginReply:
        connection = make(str(parts.hostname), parts.port, timeout=_SOCKET_S)
        try:
            connection.request("POST", f"{parts.path.rstrip('/')}/v1/messages", body, dict(headers))
            response = connection.getresponse()
            reply = decode(response.read(_ANSWER_LIMIT), dict[str, Any]) or {}
        finally:
            connection.close()
        error = reply.get("error")
        error = error if isinstance(error, dict) else {}
        return LoginReply(response.status, str(error.get("type", "")), str(error.get("message", "")))

    try:
        # A lookup of a name has no deadline of its own: it is left behind in its thread.
        return Future(request, "mngr-preflight").result(_DEADLINE_S)
    except FutureTimeoutError:
        return LoginReply(problem=f"no answer within {_DEADLINE_S:g} s")
    except (OSError, http.client.HTTPException, ValueError) as error:
        return LoginReply(problem=one_line(str(error) or type(error).__name__, PROBLEM_LIMIT))
