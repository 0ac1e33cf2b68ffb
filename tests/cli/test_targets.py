"""Several targets: the others are still done, and the exit code says how it went."""

import pytest
from tests.cli.command import Mngr


@pytest.fixture
def three(mngr: Mngr) -> Mngr:
    for name in ("a", "b", "c"):
        mngr.ok("create", name, "--label", f"own={name}", "--", "sleep", "1000")
    return mngr


def states(mngr: Mngr) -> dict[str, str]:
    return {agent["name"]: agent["state"] for agent in mngr.ok("list", "--json").json["agents"]}


@pytest.mark.accept("K1")
def test_an_unknown_target_is_an_error_and_the_others_are_done(three: Mngr) -> None:
    done = three("stop", "a", "zzz")
    assert done.code == 3
    assert done.stdout == "Stopped a\n"
    assert 'error: no agent "zzz"' in done.stderr
    assert states(three) == {"a": "STOPPED", "b": "RUNNING", "c": "RUNNING"}
    assert three("stop", "zzz", "yyy").code == 4
    report = three("stop", "b", "zzz", "--json")
    assert report.code == 3
    assert [agent["name"] for agent in report.json["agents"]] == ["b"]
    assert report.json["errors"][0]["error"]["exit_code"] == 4


@pytest.mark.accept("K1")
def test_one_named_target_answers_with_its_record(three: Mngr) -> None:
    first = three.ok("stop", "a", "--json").json
    assert (first["name"], first["state"], first["changed"]) == ("a", "STOPPED", True)
    assert three.ok("stop", "a", "--json").json["changed"] is False
    assert three.ok("stop", "a").stdout == "Not running: a\n"
    assert three.ok("start", first["id"], "--format", "{name} {state} {changed}").stdout == "a RUNNING true\n"


def test_filters_and_all_choose(three: Mngr) -> None:
    assert sorted(three.ok("stop", "--where", "name~[ab]").stdout.splitlines()) == ["Stopped a", "Stopped b"]
    assert three.ok("start", "--label", "own=a").stdout == "Started a\n"
    assert three.ok("stop", "--running", "--dry-run").stdout.count("Would stop") == 2
    assert states(three) == {"a": "RUNNING", "b": "STOPPED", "c": "RUNNING"}
    assert three("stop").code == 2
    assert three("stop", "--all", "a").code == 2
    assert three("stop", "--where", "nmae=a").code == 2
    three.ok("stop", "--all")
    nobody = three.ok("stop", "--label", "nobody")
    assert (nobody.stdout, nobody.stderr) == ("", "No agent matches\n")
    assert set(states(three).values()) == {"STOPPED"}


@pytest.mark.accept("K1")
def test_destroying_needs_a_word(three: Mngr) -> None:
    refused = three("destroy", "a")
    assert (refused.code, refused.stdout) == (6, "")
    assert "hint: say --yes" in refused.stderr
    assert three.ok("destroy", "a", "--dry-run").stdout == "Would destroy a\n"
    assert len(states(three)) == 3
    assert three.ok("rm", "a", "-f").stdout == "Destroyed a\n"
    no = three.terminal("destroy", "b")
    no.wait_for("destroy b? [y/N]")
    no.type("\r")
    assert no.end() == 6
    assert "b" in states(three)
    yes = three.terminal("destroy", "b")
    yes.wait_for("[y/N]")
    yes.type("y\r")
    assert yes.end() == 0
    assert list(states(three)) == ["c"]


def test_a_branch_with_work_is_kept_and_said_so(mngr: Mngr) -> None:
    mngr.ok("create", "foo", "--", "sleep", "1000")
    commit = "echo x >new; git add new; git -c user.name=a -c user.email=a@b commit -qm new"
    mngr.ok("exec", "foo", "--", "sh", "-c", commit)
    done = mngr.ok("destroy", "foo", "--yes")
    assert done.stdout.startswith("Destroyed foo\n  ")
    assert "mngr/foo" in done.stdout
    assert mngr.world.git("show", "mngr/foo:new") == "x\n"
