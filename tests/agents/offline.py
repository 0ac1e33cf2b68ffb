"""Real coding agents without an account or a network: the programs of the test set-up, pointed at a scripted model."""

import json
import os
from pathlib import Path

import pytest
from tests.support.model import Model
from tests.support.needs import needs

PROGRAMS = Path(__file__).with_name("programs")
BIN = Path(__file__).parents[2] / "build/agents/node_modules/.bin"
KEY = "sk-ant-offline-0123456789-abcdefghij-9876543210"


def claude_env(model: Model, home: Path | str) -> dict[str, str]:
    """What makes a Claude Code talk to the model; skips the test where the program is not installed."""
    needs("Claude Code (tools/agent-programs installs it)", str(BIN / "claude"), "--version")
    return {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": KEY,
    }


def codex_env(home: Path | str) -> dict[str, str]:
    """What a Codex needs in its environment; skips the test where the program is not installed."""
    needs("Codex (tools/agent-programs installs it)", str(BIN / "codex"), "--version")
    return {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(home), "OFFLINE_KEY": KEY}


def codex_args(model: Model) -> tuple[str, ...]:
    """What makes a Codex talk to the model: a provider of one's own, as people have who use a gateway."""
    provider = f'{{name="offline",base_url="{model.url}/v1",wire_api="responses",env_key="OFFLINE_KEY"}}'
    return (
        "-c",
        'model="gpt-5.1-codex"',
        "-c",
        'model_provider="offline"',
        "-c",
        f"model_providers.offline={provider}",
    )


def opencode_env(model: Model, home: Path | str, **settings: object) -> dict[str, str]:
    """What makes an OpenCode talk to the model; skips the test where the program is not installed."""
    needs("OpenCode (tools/agent-programs installs it)", str(BIN / "opencode"), "--version")
    return {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "HOME": str(home),
        "OPENCODE_CONFIG_CONTENT": json.dumps({**opencode_settings(model), **settings}),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        # Reading its own list of everybody's models takes half of its start.
        "OPENCODE_MODELS_PATH": str(PROGRAMS / "no-models.json"),
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OFFLINE_KEY": KEY,
    }


def opencode_settings(model: Model) -> dict[str, object]:
    """A provider of one's own, as people have who use a gateway."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "offline",
        "options": {"baseURL": f"{model.url}/v1", "apiKey": "{env:OFFLINE_KEY}"},
        "models": {
            "gpt-5.1": {"name": "scripted", "tool_call": True},
            "odd": {"cost": {"input": 2, "output": 8}},
        },
    }
    return {"model": "offline/gpt-5.1", "small_model": "offline/gpt-5.1", "provider": {"offline": provider}}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that must stay as it is."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder
