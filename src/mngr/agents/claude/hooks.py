"""What Claude Code tells about itself: a few lines of sh that its hooks run, each of which adds an event to the log."""

from typing import Any

_HOOKS = {
    "SessionStart": ("session", "startup|resume|clear"),
    "UserPromptSubmit": ("prompt", ""),
    "PermissionRequest": ("permission", ""),
    "PostToolUse": ("tool", ""),
    "PostToolUseFailure": ("tool", ""),
    "Notification": ("notice", ""),
    "Stop": ("stop", ""),
    "StopFailure": ("failure", ""),
    "SessionEnd": ("end", ""),
}


def settings() -> dict[str, Any]:
    """What `--settings` adds for an agent: the hooks, and nothing that suggests, asks or registers itself."""
    hooks = {}
    for name, (word, matcher) in _HOOKS.items():
        hook = {"type": "command", "command": _command(word), "timeout": 10}
        hooks[name] = [{"matcher": matcher, "hooks": [hook]} if matcher else {"hooks": [hook]}]
    return {
        "hooks": hooks,
        "statusLine": {"type": "command", "command": _command("status")},
        "disableDeepLinkRegistration": "disable",
        "promptSuggestionEnabled": False,
        "skipDangerousModePermissionPrompt": True,
    }


def _command(word: str) -> str:
    return f'sh "$MNGR_AGENT_STATE_DIR/claude/hook.sh" {word}'
