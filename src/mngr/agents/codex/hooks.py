"""What Codex tells about itself: a few lines of sh that its hooks run, each of which adds an event to the log."""

from typing import Any

_HOOKS = {
    "SessionStart": "session",
    "UserPromptSubmit": "prompt",
    "PermissionRequest": "permission",
    "PostToolUse": "tool",
    "PostModelRequest": "model",
    "Stop": "stop",
    "Interrupt": "interrupt",
    "SessionEnd": "end",
}


def hooks() -> dict[str, Any]:
    """What `hooks.json` holds."""
    hooks = {}
    for name, word in _HOOKS.items():
        command = f'sh "$MNGR_AGENT_STATE_DIR/codex/hook.sh" {word}'
        hooks[name] = [{"hooks": [{"type": "command", "command": command, "timeout": 10}]}]
    return {"hooks": hooks}
