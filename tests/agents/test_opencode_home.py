"""The home of one OpenCode: what is set beforehand, and how credentials get there."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mngr.agents.opencode.home import home_of, prompt_options
from mngr.agents.opencode.type import OpenCodeType
from mngr.errors import UsageError
from mngr.hosts.local import LocalHost
from mngr.model.agent import AgentSpec
from mngr.process import Completed
from mngr.store.paths import HostPaths
from mngr.testing.agents import new_spec

pytestmark = pytest.mark.accept("K14", "Q9")
TYPE = OpenCodeType()


def launch(agent: AgentSpec, host: LocalHost, **env: str) -> Completed:
    """Runs what `run.sh` would, with a program that prints its environment in place of OpenCode."""
    programs = Path(host.dir) / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    (programs / "opencode").write_text('#!/bin/sh\necho "args $*"; env; umask\n')
    (programs / "opencode").chmod(0o755)
    TYPE.prepare(agent, host)
    command = TYPE.command(agent, host)
    told = {"MNGR_AGENT_STATE_DIR": HostPaths(host.dir).agent(agent.id).dir}
    path = f"{programs}:{os.environ['PATH']}"
    return host.run(command.argv, env={**command.env, **told, "PATH": path, **env})


def test_its_directories_are_its_own_and_the_usual_ones_are_remembered(host: LocalHost) -> None:
    agent = new_spec(TYPE, host, ("--agent", "plan"))
    said = launch(agent, host, XDG_CONFIG_HOME="/usual").text.splitlines()
    home = home_of(agent, host)
    assert said[0] == "args --agent plan"
    assert {f"XDG_{name.upper()}_HOME={home}/{name}" for name in ("config", "data", "state", "cache")} <= set(
        said
    )
    assert "MNGR_USUAL_CONFIG=/usual" in said
    assert "MNGR_USUAL_DATA=" in said
    assert said[-1] == host.run(("sh", "-c", "umask")).text.strip()


def test_nothing_is_shared_updated_or_installed(host: LocalHost) -> None:
    agent = new_spec(TYPE, host, ())
    TYPE.prepare(agent, host)
    config = f"{home_of(agent, host)}/config/opencode"
    settings = json.loads(host.read(f"{config}/opencode.json"))
    assert (settings["autoupdate"], settings["share"]) == (False, "disabled")
    lock = json.loads(host.read(f"{config}/package-lock.json"))
    assert "@opencode-ai/plugin" in lock["packages"][""]["dependencies"]
    assert os.path.isdir(f"{config}/node_modules")
    assert os.stat(home_of(agent, host)).st_mode & 0o077 == 0


def test_a_login_is_copied_only_when_it_is_told_where_it_is(host: LocalHost, tmp_path: Path) -> None:
    (tmp_path / "login").write_text("secret")
    plain, told = new_spec(TYPE, host, ()), new_spec(TYPE, host, ())
    launch(plain, host)
    assert not os.path.exists(f"{home_of(plain, host)}/data/opencode/auth.json")
    launch(told, host, MNGR_OPENCODE_CREDENTIALS=str(tmp_path / "login"))
    copy = f"{home_of(told, host)}/data/opencode/auth.json"
    assert (host.read(copy), os.stat(copy).st_mode & 0o777) == (b"secret", 0o600)
    missing = launch(new_spec(TYPE, host, ()), host, MNGR_OPENCODE_CREDENTIALS="/nowhere")
    assert missing.code != 0
    assert "/nowhere" in missing.complaint


@pytest.mark.parametrize(
    ("argv", "options"),
    [
        ((), {}),
        (("-m", "openai/gpt-5.1"), {"model": {"providerID": "openai", "modelID": "gpt-5.1"}}),
        (("--model=router/maker/m",), {"model": {"providerID": "router", "modelID": "maker/m"}}),
        (("--agent", "plan", "--auto"), {"agent": "plan"}),
        (("--model", "nonsense"), {}),
        (("--model",), {}),
    ],
)
def test_what_every_message_says_of_its_arguments(argv: tuple[str, ...], options: dict[str, Any]) -> None:
    assert prompt_options(argv) == options


@pytest.mark.parametrize("args", [("--pure",), ("-s", "ses_x"), ("--session=ses_x",), ("--continue",)])
def test_flags_that_would_hide_it_are_refused(host: LocalHost, args: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match=args[0].partition("=")[0]) as caught:
        TYPE.command(new_spec(TYPE, host, args), host)
    assert "mngr start" in caught.value.hint


def test_a_program_that_is_missing_cannot_be_started(host: LocalHost) -> None:
    agent = new_spec(TYPE, host, ())
    TYPE.prepare(agent, host)
    told = {"MNGR_AGENT_STATE_DIR": HostPaths(host.dir).agent(agent.id).dir, "PATH": "/usr/bin:/bin"}
    done = host.run(TYPE.command(agent, host).argv, env=told)
    assert (done.code, "opencode" in done.complaint) == (127, True)
