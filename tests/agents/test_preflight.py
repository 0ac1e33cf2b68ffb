"""What is missing before an agent of a coding type is launched; Claude Code's key is tried at a real server."""

from pathlib import Path

import pytest
from tests.support.model import Fault, Model
from tests.support.model.fixture import model
from tests.support.world import World

import mngr
from mngr.agents.claude.login import login_findings
from mngr.agents.claude.type import ClaudeType
from mngr.agents.codex.type import CodexType
from mngr.agents.command import CommandType
from mngr.agents.custom import CustomType
from mngr.agents.opencode.type import OpenCodeType
from mngr.agents.protocol import AgentType, Preflighted
from mngr.model.finding import Finding, LaunchPlan

__all__ = ["model"]

pytestmark = pytest.mark.accept("M19")
KEY = "sk-ant-preflight-0123456789"


def claude(model: Model, *argv: str, **env: str) -> Finding:
    given = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": KEY, **env}
    (found,) = login_findings(LaunchPlan(argv, given))
    assert KEY not in str(found)
    return found


def test_a_key_that_is_accepted_is_tried_with_one_token(model: Model) -> None:
    found = claude(model, "--model", "claude-opus-4-8[1m]")
    assert (found.ok, found.found) == (True, "ANTHROPIC_API_KEY is accepted")
    (asked,) = model.asked
    assert (asked.model, asked.body["max_tokens"], asked.headers["x-api-key"]) == ("claude-opus-4-8", 1, KEY)
    assert claude(model, ANTHROPIC_API_KEY="", ANTHROPIC_AUTH_TOKEN="t0k3n").ok
    assert model.asked[1].headers["authorization"] == "Bearer t0k3n"


@pytest.mark.parametrize(
    ("fault", "severity", "fix"),
    [
        (Fault(401, message="invalid x-api-key"), "error", "a key that is valid"),
        (Fault(400, message="Your credit balance is too low to access the API."), "error", "add credit"),
        (Fault(402, kind="billing_error", message="pay"), "error", "add credit"),
        (Fault(403, message="not for you"), "error", "use a key"),
        (Fault(404, message="model: claude-x-1"), "error", "name a model"),
        (Fault(429), "warning", "try again"),
        (Fault(529), "warning", "try again"),
        (Fault(500), "warning", "try again"),
    ],
)
def test_a_key_that_is_refused_says_why_and_a_busy_model_is_a_warning(
    model: Model, fault: Fault, severity: str, fix: str
) -> None:
    model.refuses = fault
    found = claude(model, "--model=claude-x-1")
    assert (found.ok, found.severity) == (False, severity)
    assert (fault.message or str(fault.status)) in found.found
    assert fix in found.fix


def test_a_model_that_was_not_named_may_be_unknown(model: Model) -> None:
    model.refuses = Fault(404)
    assert claude(model, "--model", "opus").ok


def test_a_server_that_does_not_answer_is_a_warning(model: Model) -> None:
    model.stop()
    found = claude(model)
    assert (found.ok, found.severity) == (False, "warning")
    assert claude(model, ANTHROPIC_BASE_URL="nonsense").severity == "warning"
    assert claude(model, HTTPS_PROXY="http://proxy").ok


def test_no_login_says_which_variable_to_name(tmp_path: Path) -> None:
    (found,) = login_findings(LaunchPlan())
    assert (found.ok, found.severity) == (False, "error")
    assert "--env ANTHROPIC_API_KEY" in found.fix
    (known,) = login_findings(LaunchPlan(names_here=("CLAUDE_CODE_OAUTH_TOKEN",)))
    assert "--env CLAUDE_CODE_OAUTH_TOKEN" in known.fix
    (no_file,) = login_findings(LaunchPlan(env={"MNGR_CLAUDE_CREDENTIALS": str(tmp_path / "none")}))
    assert not no_file.ok
    (elsewhere,) = login_findings(LaunchPlan(env={"MNGR_CLAUDE_CREDENTIALS": "/there"}, is_here=False))
    assert elsewhere.ok
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text('{"apiKeyHelper": "print-key"}')
    assert all(one.ok for one in login_findings(LaunchPlan(source=str(tmp_path))))
    assert login_findings(LaunchPlan(env={"CLAUDE_CODE_USE_BEDROCK": "1"})) == []


def test_other_types(tmp_path: Path) -> None:
    (codex,) = CodexType().login_findings(LaunchPlan())
    assert "OPENAI_API_KEY" in codex.fix
    assert CodexType().login_findings(LaunchPlan(env={"OPENAI_API_KEY": "k"}))[0].ok
    assert CodexType().login_findings(LaunchPlan(argv=("-c", 'model_provider="mine"'))) == []
    assert OpenCodeType().login_findings(LaunchPlan()) == ()
    mine: AgentType = CustomType("mine", ClaudeType(), (), {"CLAUDE_CODE_OAUTH_TOKEN": "t"})
    assert isinstance(mine, Preflighted)
    assert not isinstance(CustomType("plain", CommandType(), (), {}), Preflighted)
    assert [one.ok for one in mine.login_findings(LaunchPlan())] == [True]


def test_a_missing_program_is_found_on_the_path_that_agents_get(tmp_path: Path) -> None:
    world = World(tmp_path)
    try:
        manager = world.manager()
        assert mngr.preflight("scripted", manager=manager) == mngr.preflight("command", manager=manager) == ()
        tools = tmp_path / "tools"
        tools.mkdir()
        missing = mngr.preflight("opencode", env={"PATH": str(tools)}, manager=manager)
        assert [(one.name, one.ok, one.fix) for one in missing] == [
            ("opencode", False, "npm install -g opencode-ai")
        ]
        (tools / "opencode").touch(0o755)
        (found,) = mngr.preflight("opencode", env={"PATH": str(tools)}, manager=manager)
        assert (found.ok, found.found) == (True, str(tools / "opencode"))
        assert mngr.preflight("opencode", env={"PATH": ""}, provider="docker", manager=manager) == ()
    finally:
        world.end()
