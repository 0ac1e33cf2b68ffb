"""The home of one Claude Code: what is answered beforehand, and how credentials get there."""

import json
import os
from pathlib import Path

import pytest

from mngr.agents.claude.home import home_of
from mngr.agents.claude.type import ClaudeType
from mngr.errors import UsageError
from mngr.hosts.local import LocalHost
from mngr.model.agent import AgentSpec
from mngr.process import Completed
from mngr.testing.agents import new_spec

pytestmark = pytest.mark.accept("K14", "Q9")
TYPE = ClaudeType()


def launch(agent: AgentSpec, host: LocalHost, **env: str) -> Completed:
    """Runs what `run.sh` would, with a program that prints its environment in place of Claude Code."""
    programs = Path(host.dir) / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    (programs / "claude").write_text('#!/bin/sh\necho "args $*"; env; umask\n')
    (programs / "claude").chmod(0o755)
    TYPE.prepare(agent, host)
    command = TYPE.command(agent, host)
    path = f"{programs}:{os.environ['PATH']}"
    return host.run(command.argv, env={**command.env, "PATH": path, **env})


def answers(agent: AgentSpec, host: LocalHost) -> dict[str, object]:
    found: dict[str, object] = json.loads(host.read(f"{home_of(agent, host)}/.claude.json"))
    return found


def test_dialogs_are_answered_and_the_key_it_was_given_is_approved(host: LocalHost) -> None:
    agent = new_spec(TYPE, host, ())
    assert launch(agent, host, ANTHROPIC_API_KEY="sk-ant-0123456789abcdefghijklmnop").code == 0
    found = answers(agent, host)
    assert found["hasCompletedOnboarding"] is True
    assert found["projects"] == {
        agent.work_dir: {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    }
    assert found["customApiKeyResponses"] == {"approved": ["6789abcdefghijklmnop"], "rejected": []}
    assert os.stat(f"{home_of(agent, host)}/.claude.json").st_mode & 0o777 == 0o600


@pytest.mark.parametrize("key", ["", "short", 'sk"]},"x":"/&\\'])
def test_any_key_leaves_answers_that_can_be_read(host: LocalHost, key: str) -> None:
    agent = new_spec(TYPE, host, ())
    assert launch(agent, host, ANTHROPIC_API_KEY=key).code == 0
    approved = "short" if key == "short" else ""
    assert answers(agent, host)["customApiKeyResponses"] == {"approved": [approved], "rejected": []}


def test_a_second_start_leaves_what_the_program_wrote(host: LocalHost) -> None:
    agent = new_spec(TYPE, host, ())
    launch(agent, host)
    host.write(f"{home_of(agent, host)}/.claude.json", b'{"mine":1}')
    launch(agent, host)
    assert answers(agent, host) == {"mine": 1}


def test_credentials_are_copied_only_when_it_is_told_where_they_are(host: LocalHost, tmp_path: Path) -> None:
    (tmp_path / "creds").write_text("secret")
    plain, told = new_spec(TYPE, host, ()), new_spec(TYPE, host, ())
    launch(plain, host)
    assert not os.path.exists(f"{home_of(plain, host)}/.credentials.json")
    launch(told, host, MNGR_CLAUDE_CREDENTIALS=str(tmp_path / "creds"))
    copy = f"{home_of(told, host)}/.credentials.json"
    assert (host.read(copy), os.stat(copy).st_mode & 0o777) == (b"secret", 0o600)
    missing = launch(new_spec(TYPE, host, ()), host, MNGR_CLAUDE_CREDENTIALS="/nowhere")
    assert missing.code != 0
    assert "/nowhere" in missing.complaint


def test_the_program_gets_its_own_home_and_the_usual_umask(host: LocalHost) -> None:
    agent = new_spec(TYPE, host, ("--model", "opus"))
    said = launch(agent, host).text.splitlines()
    assert f"CLAUDE_CONFIG_DIR={home_of(agent, host)}" in said
    assert said[0] == f"args --settings {home_of(agent, host)}/settings.json --model opus"
    assert said[-1] == host.run(("sh", "-c", "umask")).text.strip()


@pytest.mark.parametrize(
    ("args", "is_unattended"),
    [
        ((), False),
        (("--dangerously-skip-permissions",), True),
        (("--permission-mode", "bypassPermissions"), True),
        (("--permission-mode", "plan"), False),
    ],
)
def test_only_who_asks_for_it_goes_unattended(
    host: LocalHost, args: tuple[str, ...], is_unattended: bool
) -> None:
    env = TYPE.command(new_spec(TYPE, host, args), host).env
    assert ("IS_SANDBOX" in env) == is_unattended


@pytest.mark.parametrize("args", [("--settings", "x.json"), ("--settings=x.json",)])
def test_the_one_flag_that_is_ours_is_refused(host: LocalHost, args: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="--settings") as caught:
        TYPE.command(new_spec(TYPE, host, args), host)
    assert ".claude/settings.json" in caught.value.hint
