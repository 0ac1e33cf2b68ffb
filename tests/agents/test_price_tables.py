"""`tools/prices`: our table against two public ones, in their own forms."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).parents[2] / "tools/prices"
LONG = {"input": 5, "output": 22.5, "tier": {"type": "context", "size": 272_000}}
MODELS_DEV: Any = {
    "anthropic": {"models": {"claude-opus-4-8": {"cost": {"input": 5, "output": 25, "cache_read": 0.5}}}},
    "openai": {"models": {"gpt-5.4": {"cost": {"input": 2.5, "output": 15, "tiers": [LONG]}}}},
}
LITELLM: Any = {
    "sample_spec": {"input_cost_per_token": "a text"},
    "claude-opus-4-8": {"input_cost_per_token": 5e-06, "output_cost_per_token": 2.5e-05, "mode": "chat"},
    "gpt-5.4": {
        "input_cost_per_token": 2.5e-06,
        "output_cost_per_token": 1.5e-05,
        "input_cost_per_token_above_272k_tokens": 5e-06,
        "output_cost_per_token_above_272k_tokens": 2.25e-05,
    },
}

pytestmark = pytest.mark.accept("O1")


def compare(folder: Path, models_dev: Any = MODELS_DEV, litellm: Any = LITELLM) -> tuple[int, set[str]]:
    """Its exit code and what it says of models that a table has."""
    (folder / "a.json").write_text(json.dumps(models_dev))
    (folder / "b.json").write_text(json.dumps(litellm))
    argv = [sys.executable, str(TOOL), str(folder / "a.json"), str(folder / "b.json")]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, {line for line in done.stdout.splitlines() if "in neither table" not in line}


def test_equal_prices_are_no_difference_and_missing_models_are_named(tmp_path: Path) -> None:
    assert compare(tmp_path) == (0, set())


def test_every_difference_is_named_with_its_table(tmp_path: Path) -> None:
    text = json.dumps(MODELS_DEV).replace('"input": 5, "output": 25', '"input": 6, "output": 25')
    assert compare(tmp_path, json.loads(text.replace("272000", "200000"))) == (
        1,
        {
            "claude-opus-4-8: input is 5.0, models.dev has 6",
            "gpt-5.4: long above is 272000, models.dev has 200000",
        },
    )
    costs = {name: value for name, value in LITELLM["gpt-5.4"].items() if "above" not in name}
    code, lines = compare(tmp_path, litellm={**LITELLM, "gpt-5.4": costs})
    assert code == 1
    assert "gpt-5.4: long input is 5.0, LiteLLM has none" in lines
