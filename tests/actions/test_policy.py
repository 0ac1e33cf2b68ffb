"""A policy says what may go where; it is asked before anything is sent, and everything that is sent is recorded."""

import json
import stat
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from tests.cli.command import Mngr
from tests.support.world import World

import mngr as package
from mngr.actions import audit, policy
from mngr.actions.audit import AuditLine, append_line
from mngr.actions.policy import Leaving, PolicyTable, remote_name
from mngr.model.agent import AgentSpec

pytestmark = pytest.mark.accept("O16")


@pytest.fixture
def mngr(world: World) -> Mngr:
    return Mngr(world)


def configure(mngr: Mngr, text: str) -> Path:
    """Writes the user's config."""
    config = Path(mngr.world.host_dir, "config.toml")
    config.parent.mkdir(exist_ok=True)
    config.write_text(text)
    return config


def spec(world: World, type: str = "claude", *argv: str) -> AgentSpec:
    return AgentSpec("id", "foo", type, argv, "/w", 0.0, source=str(world.repo), base_commit="HEAD")


def table(**rules: Mapping[str, tuple[str, ...]]) -> PolicyTable:
    return msgspec.convert({"rules": rules}, type=PolicyTable)


def lines(world: World) -> list[dict[str, object]]:
    path = Path(world.host_dir, "audit.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://user:word@github.com/acme/shop.git", "github.com/acme/shop"),
        ("git@github.com:acme/shop.git", "github.com/acme/shop"),
        ("ssh://git@host.example/acme/shop/", "host.example/acme/shop"),
    ],
)
def test_a_remote_is_named_alike_however_it_is_written(url: str, name: str) -> None:
    assert remote_name(f"remote.origin.url {url}") == name


def test_the_first_rule_about_a_repository_decides(world: World) -> None:
    world.git("remote", "add", "origin", "git@github.com:acme/shop.git")
    (world.repo / "keys").mkdir()
    (world.repo / "keys" / "new.pem").write_text("x")
    secret = {"paths": ("keys/*",), "providers": ("local",)}
    ours = {"repositories": ("github.com/acme/*",), "agents": ("claude",), "models": ("opus-*", "")}
    rules = table(secret=secret, ours=ours)
    leaving = Leaving(spec(world), ())
    assert rules.objection(leaving, "local") == ("", "")
    assert rules.objection(leaving, "modal")[0] == "[policy.rules.secret]"
    (world.repo / "keys" / "new.pem").unlink()
    assert rules.objection(Leaving(spec(world), ()), "modal") == ("", "")
    beside = Leaving(spec(world), [str(world.repo / "keys" / "b.pem")])
    assert rules.objection(beside, "modal")[0] == "[policy.rules.secret]"
    rule, why = rules.objection(Leaving(spec(world, "codex"), ()), "modal")
    assert (rule, 'agent type "codex"' in why) == ("[policy.rules.ours]", True)
    for argv, is_allowed in (
        (("--model", "opus-4"), True),
        (("--model=gpt-9",), False),
        (("-m", "gpt-9"), False),
    ):
        assert (rules.objection(Leaving(spec(world, "claude", *argv), ()), "modal")[1] == "") is is_allowed
    world.git("remote", "remove", "origin")
    assert rules.objection(Leaving(spec(world), ()), "local")[0] == "[policy.rules]"
    mine = table(mine={"repositories": (f"{world.repo.parent}/*",)})
    assert mine.objection(Leaving(spec(world), ()), "modal") == ("", "")


def test_where_git_cannot_say_which_files_there_are_a_rule_about_files_holds(world: World) -> None:
    rules = table(secret={"paths": ("keys/*",), "providers": ("local",)}, rest={})
    folder = world.repo.parent / "plain"
    folder.mkdir()
    unknown = AgentSpec("id", "foo", "claude", (), "/w", 0.0, source=str(folder))
    assert rules.objection(Leaving(unknown, ()), "modal")[0] == "[policy.rules.secret]"


def test_a_creation_that_a_policy_forbids_sends_nothing_and_names_the_rule(
    mngr: Mngr, tmp_path: Path
) -> None:
    config = configure(mngr, '[policy.rules.all]\nagents = ["scripted"]\n')
    done = mngr("create", "foo", "--no-connect", "--", "sleep", "60")
    assert (done.code, done.stdout) == (6, "")
    assert f'agent type "command": refused by [policy.rules.all] of {config}' in done.stderr
    assert "mngr/foo" not in mngr.world.git("branch")
    assert json.loads(mngr.ok("list", "--json").stdout)["agents"] == []
    (line,) = lines(mngr.world)
    head = mngr.world.git("rev-parse", "HEAD").strip()
    found = [line[name] for name in ("what", "outcome", "type", "provider", "commit", "repository", "rule")]
    rule = f"[policy.rules.all] of {config}"
    assert found == ["create", "refused", "command", "local", head, str(mngr.world.repo), rule]
    assert stat.S_IMODE(Path(mngr.world.host_dir, "audit.jsonl").stat().st_mode) == 0o600


def test_what_is_sent_is_recorded(mngr: Mngr) -> None:
    configure(mngr, "[policy]\nlocal_only = true\n")
    book = mngr.world.repo / "book.jsonl"
    book.write_text("")
    mngr.ok("create", "foo", "--no-connect", "--transfer", "none", "--upload", "book.jsonl:b", "--", "cat")
    mngr.ok("push", "foo", "--files", "book.jsonl")
    mngr.ok("message", "foo", "-m", "hello")
    found = [(line["what"], line["outcome"], line["files"]) for line in lines(mngr.world)]
    sent = [str(book)]
    assert found == [("create", "allowed", sent), ("files", "allowed", sent), ("message", "allowed", [])]
    refused = mngr("create", "bar@.docker", "--no-connect", "--", "true")
    assert (refused.code, "refused by local_only" in refused.stderr) == (6, True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "no such file"),
        ("policy = [", "policy.toml"),
        ("[policy]\nlocal_onyl = true\n", "local_onyl"),
        ("[policy.rules.a]\nagents = 3\n", "agents"),
        ("[tmr]\nslots = 1\n", '"tmr" is not [policy]'),
    ],
)
def test_a_policy_that_cannot_be_read_lets_nothing_go(
    mngr: Mngr, tmp_path: Path, text: str | None, why: str
) -> None:
    file = tmp_path / "policy.toml"
    if text is not None:
        file.write_text(text)
    done = mngr("create", "foo", "--no-connect", "--", "sleep", "60", MNGR_POLICY=str(file))
    assert (done.code, done.stdout) == (6, "")
    assert f"the policy in {file} cannot be read" in done.stderr
    assert why in done.stderr
    assert json.loads(mngr.ok("list", "--json").stdout)["agents"] == []


def test_every_file_must_allow_it(mngr: Mngr, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('[policy.rules.ours]\nagents = ["claude"]\n')
    configure(mngr, '[policy.rules.mine]\nagents = ["*"]\n')
    done = mngr("create", "foo", "--no-connect", "--", "true", MNGR_POLICY=str(file))
    assert (done.code, f"[policy.rules.ours] of {file}" in done.stderr) == (6, True)


def test_neither_a_repository_nor_a_word_can_set_a_policy(mngr: Mngr) -> None:
    configure(mngr, "[policy]\nlocal_only = true\n")
    folder = mngr.world.repo / ".mngr"
    folder.mkdir()
    for place in (folder / "settings.toml", folder / "settings.local.toml"):
        place.write_text("[policy]\nlocal_only = false\n")
        mngr("config", "trust")
        done = mngr("create", "foo@.docker", "--", "true")
        assert (done.code, f"{place}: [policy] cannot be set there" in done.stderr) == (2, True)
        place.unlink()
    done = mngr("create", "foo@.docker", "-S", "policy.local_only=false", "--", "true")
    assert (done.code, "-S: [policy] cannot be set there" in done.stderr) == (2, True)
    done = mngr("create", "foo@.docker", "--", "true", MNGR__POLICY__LOCAL_ONLY="false")
    assert (done.code, "[policy] cannot be set there" in done.stderr) == (2, True)


def test_what_cannot_be_recorded_is_not_sent(mngr: Mngr) -> None:
    configure(mngr, "[policy]\naudit = true\n")
    Path(mngr.world.host_dir, "audit.jsonl").symlink_to("/dev/full")
    done = mngr("create", "foo", "--no-connect", "--", "sleep", "60")
    assert (done.code, "cannot write the audit log" in done.stderr) == (6, True)
    assert json.loads(mngr.ok("list", "--json").stdout)["agents"] == []


def test_the_log_is_bounded_and_without_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "_MOST_BYTES", 2_000)
    monkeypatch.setenv("SHOP_TOKEN", "f00dcafe-1234")
    known = "gh" + "p_" + "a1" * 18
    line = AuditLine(
        1.0, "me", "create", "allowed", "i", "t", known, "p", "h", "/r/f00dcafe-1234", "c", "none"
    )
    for _ in range(200):
        append_line(str(tmp_path), line)
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == [
        "audit.jsonl",
        *(f"audit.jsonl.{number}" for number in range(1, 6)),
    ]
    assert all(file.stat().st_size < 2_500 and stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files)
    text = "".join(file.read_text() for file in files)
    assert ("f00dcafe" in text, known in text, '"/r/[hidden]"' in text) == (False, False, True)


def test_lines_of_several_at_once_do_not_mix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "_MOST_BYTES", 5_000)
    line = AuditLine(1.0, "me", "create", "allowed", "i" * 300, "t", "m", "p", "h", "r", "c", "none")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: append_line(str(tmp_path), line), range(40)))
    text = "".join(file.read_text() for file in tmp_path.iterdir())
    assert len([json.loads(one) for one in text.splitlines()]) == 40


def test_the_machines_policy_is_read(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "machine.toml"
    file.write_text("[policy]\nlocal_only = true\n")
    monkeypatch.setattr("mngr.config.locate.POLICY_FILE", str(file))
    with pytest.raises(package.RefusedError, match=f"local_only of {file}"):
        world.manager().check_policy("create", spec(world), "modal")
    assert dict(policy.read_tables(world.manager())) == {str(file): PolicyTable(local_only=True)}
