"""The branch reaches a forge and becomes a pull request, with the real git and gh; the token stays out of sight."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.needs import needs
from tests.tmr.integrate.forge import Forge
from tests.tmr.integrate.scene import Scene, Work

import mngr
from mngr_tmr.integrate.publish.pull_request import pr_text
from mngr_tmr.integrate.publish.push import find_token, open_pr, publish

TOKEN = "ghp_canary0123456789abcdefghijklmnopqrstu"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = Scene(tmp_path, {"app.py": "x = 1\n"})
    scene.agent("test_a.py::test_a", Work("two", {"app.py": "x = 2\n"}))
    return scene


@pytest.fixture
def forge(tmp_path: Path, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Iterator[Forge]:
    needs("the GitHub command line", "gh", "--version")
    with Forge(tmp_path / "forge", TOKEN) as forge:
        for name in ("http_proxy", "HTTP_PROXY"):
            monkeypatch.setenv(name, forge.proxy)
        monkeypatch.setenv("no_proxy", "")
        monkeypatch.setenv("NO_PROXY", "")
        scene.git("remote", "add", "origin", "http://github.localhost/ada/app.git")
        yield forge


@pytest.mark.accept("R6", "R12", "R13", "Q6")
def test_a_pull_request_is_opened_and_the_token_is_seen_by_the_forge_alone(
    scene: Scene, forge: Forge, tmp_path: Path
) -> None:
    done = scene.integrate()
    text = pr_text(scene.run, scene.records, done)
    opened = open_pr(str(scene.repo), done, text, token=TOKEN)
    assert opened.url == "http://github.localhost/ada/app/pull/7"
    assert forge.git("-C", str(forge.bare), "rev-parse", done.branch).strip() == done.tip
    asked = forge.requests[0]
    assert (asked["headRefName"], asked["baseRefName"]) == (done.branch, "main")
    assert asked["body"] == text
    assert forge.tokens == {TOKEN}
    holding = [path for path in tmp_path.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    assert holding == []


@pytest.mark.accept("R6", "R11")
def test_pushing_again_finds_the_open_pull_request(scene: Scene, forge: Forge) -> None:
    done = scene.integrate()
    first = open_pr(str(scene.repo), done, "text", token=TOKEN)
    assert open_pr(str(scene.repo), done, "text", token=TOKEN) == first
    assert len(forge.requests) == 1


@pytest.mark.accept("Q6")
def test_a_refused_token_is_an_error_that_does_not_show_it(scene: Scene, forge: Forge) -> None:
    done = scene.integrate()
    wrong = TOKEN + "x"
    with pytest.raises(mngr.MngrError) as caught:
        open_pr(str(scene.repo), done, "text", token=wrong)
    assert "cannot push" in str(caught.value)
    assert wrong not in str(caught.value) + caught.value.hint + repr(caught.value)
    assert forge.requests == []


@pytest.mark.accept("R6")
def test_a_remote_without_a_forge_gets_the_branch_and_keeps_what_others_put_on_it(
    scene: Scene, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    scene.git("init", "-q", "--bare", str(bare))
    scene.git("remote", "add", "origin", str(bare))
    done = scene.integrate()
    opened = open_pr(str(scene.repo), done, "text", token="")
    assert opened.url == ""
    scene.git("push", "-q", str(bare), f"{scene.base}:refs/heads/main")
    theirs = scene.commits("review", done.tip, [Work("a word of mine", {"app.py": "x = 3\n"})])[0]
    scene.git("push", "-q", str(bare), f"{theirs}:refs/heads/{done.branch}")
    with pytest.raises(mngr.MngrError, match="cannot push"):
        open_pr(str(scene.repo), done, "text", token="")
    assert scene.git("ls-remote", str(bare), done.branch).split()[0] == theirs


@pytest.mark.accept("Q6")
def test_a_forge_that_repeats_the_token_is_not_quoted(scene: Scene, forge: Forge) -> None:
    forge.refusal = f"the token {TOKEN} may not do this at https://ada:{TOKEN}@github.localhost"
    with pytest.raises(mngr.MngrError) as caught:
        open_pr(str(scene.repo), scene.integrate(), "text", token=TOKEN)
    assert "may not do this" in str(caught.value)
    assert TOKEN not in str(caught.value)


@pytest.mark.accept("R6")
def test_nothing_integrated_is_not_pushed(scene: Scene) -> None:
    scene.records.clear()
    with pytest.raises(mngr.UsageError, match="nothing was integrated"):
        open_pr(str(scene.repo), scene.integrate(), "text", token="")


@pytest.mark.accept("R6", "R11", "Q6")
def test_a_push_that_fails_is_a_note_and_loses_nothing(scene: Scene, forge: Forge) -> None:
    done = scene.integrate()
    assert publish(str(scene.repo), done, "text", TOKEN).pr_url.endswith("/pull/7")
    scene.git("remote", "set-url", "origin", str(scene.repo.parent / "nowhere"))
    told = publish(str(scene.repo), done, "text", TOKEN)
    assert told.tip == done.tip
    assert told.notes[-1].startswith('not pushed: cannot push to "origin"')
    assert TOKEN not in told.notes[-1]


@pytest.mark.accept("R12")
def test_the_token_is_found_by_its_usual_names_only() -> None:
    assert find_token({"GH_TOKEN": "", "GITHUB_TOKEN": "a"}) == "a"
    assert find_token({"TOKEN": "a"}) == ""
