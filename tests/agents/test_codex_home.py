"""The home of one Codex: which words go where, and how credentials get there."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agents.desk_codex import CodexDesk
from tests.support.model import Model

import mngr
from mngr.agents.codex.home import screen_words, server_words
from mngr.agents.codex.type import CodexType
from mngr.errors import MngrError, UsageError
from mngr.hosts.local import LocalHost
from mngr.model.agent import AgentState, WaitingReason
from mngr.process import wait_until
from mngr.testing.agents import new_spec
from mngr.testing.waiting import PATIENCE_S

pytestmark = pytest.mark.accept("K14", "Q9")
TYPE = CodexType()
ALLOWED = ("-c", 'approval_policy="never"', "-c", 'sandbox_mode="danger-full-access"')


@pytest.fixture
def desk(tmp_path: Path, model: Model) -> Iterator[CodexDesk]:
    made = CodexDesk(tmp_path, model)
    yield made
    made.end()


@pytest.mark.parametrize(
    ("argv", "server", "screen"),
    [
        ((), (), ()),
        (("-m", "o3"), (), ("-m", "o3")),
        (("-c", "a=1", "--enable=x"), ("-c", "a=1", "--enable", "x"), ("-c", "a=1", "--enable", "x")),
        (("--yolo", "-m", "o3"), ALLOWED, ("-m", "o3")),
        (("-a", "never", "--sandbox=danger-full-access"), ALLOWED, ()),
        (("-s",), ("-c", 'sandbox_mode=""'), ()),
    ],
)
def test_words_go_to_whom_they_concern(
    argv: tuple[str, ...], server: tuple[str, ...], screen: tuple[str, ...]
) -> None:
    assert (server_words(argv), screen_words(argv)) == (server, screen)


@pytest.mark.parametrize("args", [("--remote", "ws://x"), ("--cd=/",), ("-C", "/")])
def test_flags_that_are_ours_are_refused(host: LocalHost, args: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match=args[0].partition("=")[0]) as caught:
        TYPE.command(new_spec(TYPE, host, args), host)
    assert "--from" in caught.value.hint


@pytest.mark.slow
def test_without_the_program_nothing_is_left_and_it_says_so(desk: CodexDesk) -> None:
    desk.world.env["PATH"] = "/usr/bin:/bin"
    with pytest.raises(MngrError, match="codex") as caught:
        desk.create()
    assert "installed" in caught.value.hint
    assert desk.world.left_behind() == []


@pytest.mark.slow
def test_a_login_is_copied_only_when_it_is_told_where_it_is(desk: CodexDesk, tmp_path: Path) -> None:
    login = tmp_path / "login.json"
    login.write_text(json.dumps({"auth_mode": "apikey", "OPENAI_API_KEY": "sk-from-a-file"}))
    desk.keys["MNGR_CODEX_CREDENTIALS"] = str(login)
    agent = desk.create()
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    copy = f"{desk.world.paths.agent(agent.id).dir}/codex/auth.json"
    with open(copy) as file:
        assert "sk-from-a-file" in file.read()
    assert os.stat(copy).st_mode & 0o777 == 0o600
    desk.keys["MNGR_CODEX_CREDENTIALS"] = "/nowhere"
    with pytest.raises(MngrError, match="/nowhere"):
        desk.create("bar")


@pytest.mark.slow
def test_a_key_that_was_given_by_name_logs_it_in(desk: CodexDesk) -> None:
    env = {"OPENAI_API_KEY": "sk-by-name"}
    args = ("-c", f'openai_base_url="{desk.model.url}/v1"')
    mngr.create("foo", type="codex", args=args, env=env, transfer="none", manager=desk.manager)
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    mngr.message("foo", "hello", manager=desk.manager)
    keys = wait_until(
        lambda: {asked.headers.get("authorization") for asked in desk.model.asked},
        PATIENCE_S,
    )
    assert keys == {"Bearer sk-by-name"}
    assert os.listdir(desk.world.home) == []


@pytest.mark.slow
def test_what_the_program_makes_has_the_usual_permissions(desk: CodexDesk) -> None:
    agent = desk.create()
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    state = desk.world.paths.agent(agent.id).dir
    pids = [pid for pid, seen in desk.world.processes().items() if b"app-server" in seen.argv]
    masks = {_umask(f"/proc/{pid}/status") for pid in pids}
    assert masks == {_umask("/proc/self/status")}
    assert os.stat(f"{state}/codex/config.toml").st_mode & 0o077 == 0


def _umask(path: str) -> str:
    lines = Path(path).read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("Umask:"))
