"""One row of a pipeline: claim beside check, what the agent did and said, and every link to and from it."""

from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext, expect
from tests.support.browser import Visit, page_file, soon, visit
from tests.support.pipeline_sample import FIX, OWN, node, pipeline


@pytest.fixture
def file(tmp_path: Path) -> Path:
    sample = pipeline()
    return page_file(tmp_path, sample.index(), sample.chunks)


def opened(file: Path, context: BrowserContext, name: str, tail: str = "") -> Visit:
    seen = visit(context, file, f"#/run/night/test/{quote(node(name), safe='')}{tail}")
    expect(seen.heading).to_contain_text(f"test_{name}")
    return seen


@pytest.mark.accept("M15", "J2", "J5")
def test_a_lie_shows_the_claim_beside_what_the_check_saw(file: Path, context: BrowserContext) -> None:
    seen = opened(file, context, "list")
    table = seen.page.get_by_role("table", name="Claim and check")
    expect(table).to_have_class("verdicts disagree")
    after = table.locator("tbody tr").last
    expect(after).to_have_class("disagree")
    expect(after.locator("td")).to_have_text(["passed", "failed ≠"])
    expect(table.locator("tr.disagree")).to_have_count(1)
    looks = [
        after.locator(f".{which}").evaluate("el => getComputedStyle(el).color")
        for which in ("claimed", "seen")
    ]
    assert looks[0] != looks[1]
    expect(seen.page.locator(".badge")).to_have_text("Agent was wrong")
    expect(seen.page.locator(".failure .complaint")).to_contain_text("AssertionError: no")
    expect(seen.page.locator(".effort")).to_contain_text("It passes now.")
    honest = opened(file, context, "total").page.get_by_role("table", name="Claim and check")
    expect(honest).to_have_class("verdicts")


@pytest.mark.accept("J2", "J5")
def test_a_fix_tells_what_changed_and_where_it_went(file: Path, context: BrowserContext) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    seen = opened(file, context, "take")
    work = seen.page.locator(".effort")
    for words in ("importance 4", "anyone would lose stock", "tmr/night/take", "$0.25", "tmr-night-take"):
        expect(work).to_contain_text(words)
    expect(work.locator(".changes .tag.bad")).to_have_text("its agent calls it test")
    expect(work.locator(".merged a")).to_have_text("merged as fix 1: Take from the shelf")
    expect(seen.page.locator(".badge")).to_have_text("Implementation fixes, fix 1")
    recipe = work.locator(".recipes li", has_text="revert fix 1")
    recipe.get_by_role("button", name="Copy this command").click()
    expect(recipe).to_contain_text("copied")
    assert seen.page.evaluate("navigator.clipboard.readText()") == f"git revert --no-edit {FIX[:12]}"
    expect(opened(file, context, "give").page.locator(".merged a")).to_contain_text("the same as fix 1")
    expect(opened(file, context, "help").page.locator(".merged a")).to_contain_text("squashed into")


@pytest.mark.accept("Q5")
def test_a_summary_is_lightly_set_and_stays_text(file: Path, context: BrowserContext) -> None:
    prose = opened(file, context, "take").page.locator(".prose")
    expect(prose.locator("strong")).to_have_text("sign")
    expect(prose.locator("p code")).to_have_text("take")
    expect(prose.locator(".is-item")).to_have_text(["one", "two"])
    expect(prose.locator("pre")).to_have_text("left = 1")
    expect(prose.locator("b")).to_have_count(0)
    expect(prose).to_contain_text("<b>bold</b>")


@pytest.mark.accept("J1", "J5")
def test_blocked_lost_and_unreadable_rows_say_what_happened(file: Path, context: BrowserContext) -> None:
    blocked = opened(file, context, "sync").page
    expect(blocked.locator(".needs")).to_have_text("It needs: ACME_SERVER")
    lost = opened(file, context, "export").page
    expect(lost.locator(".heading .reason")).to_have_text("watch: no sign of life for 25 s")
    expect(lost.locator(".effort .known .bad")).to_contain_text("watch")
    torn = opened(file, context, "torn").page
    text = torn.locator(".text").first
    expect(text).to_contain_text("it is cut")
    expect(text.locator("pre")).to_have_text('{"outcome": "fi')


@pytest.mark.accept("J5", "V1")
def test_an_agents_conversation_leads_to_its_recording(file: Path, context: BrowserContext) -> None:
    seen = opened(file, context, "give")
    turns = seen.page.locator(".turn")
    expect(turns.locator(".role bdi")).to_have_text(["user", "tool", "agent"])
    seen.page.get_by_role("button", name="▶ 0:12").click()
    expect(seen.screen).to_contain_text("second 12")
    expect(seen.page.locator(".at")).to_contain_text("The subtraction is the wrong way round.")
    talk, player = turns.first.bounding_box(), seen.page.locator(".ap-player").bounding_box()
    assert talk
    assert player
    assert player["x"] >= talk["x"] + talk["width"]
    assert turns.nth(1).inner_text().count("a line of output") < 20
    turns.nth(1).get_by_role("button", name="show all").click()
    assert soon(lambda: turns.nth(1).inner_text().count("a line of output") == 60)
    prompt = seen.page.locator(".text", has_text="its prompt")
    expect(prompt.locator("pre")).to_have_count(0)
    prompt.locator("summary").click()
    expect(prompt.locator("pre")).to_contain_text("# You look after one test")


@pytest.mark.accept("J5", "U4")
def test_agents_attempts_are_tabs_with_their_tries_and_checks_inside(
    file: Path, context: BrowserContext
) -> None:
    seen = opened(file, context, "take")
    outer, inner = seen.page.get_by_label("Attempts"), seen.page.get_by_label("Tries")
    attempts = ["check at the base", "agent, attempt 1", "agent, attempt 2"]
    expect(outer.locator("a")).to_have_text(attempts, use_inner_text=True)
    tries = ["agent, attempt 2", "try-1: as I found it", "check"]
    expect(inner.locator("a")).to_have_text(tries, use_inner_text=True)
    expect(inner.locator("[aria-current]")).to_contain_text("agent, attempt 2")
    inner.get_by_role("link", name="try-1").click()
    expect(seen.page.locator(".entry")).to_have_count(2)
    expect(outer.locator("[aria-current]")).to_contain_text("agent, attempt 2")
    expect(inner.locator("[aria-current]")).to_contain_text("try-1")
    expect(seen.page.locator(".effort")).to_be_visible()
    seen.page.keyboard.press("2")
    expect(seen.page.locator(".note", has_text="cut off")).to_be_visible()
    expect(inner).to_have_count(0)
    seen.page.keyboard.press("1")
    expect(seen.page.locator(".entry .stdout")).to_have_text("it fails")


@pytest.mark.accept("V3", "V6", "J5")
def test_from_block_to_test_to_command_to_recording_to_commit_and_back(
    file: Path, context: BrowserContext
) -> None:
    seen = visit(context, file, "#/run/night/tutorial")
    page = seen.page
    block = page.locator(".block", has_text="acme create")
    expect(block.get_by_role("link", name="fix 1")).to_be_visible()
    block.get_by_role("link", name="test_take").click()
    page.get_by_role("link", name="try-1").click()
    page.locator(".citations").get_by_role("link", name="acme create fix-login").click()
    seen.arrive(f"#/run/night/test/{quote(node('take'), safe='')}/attempt/4/command/1")
    entry = page.locator(".entry[aria-current]")
    expect(entry).to_contain_text("acme create fix-login")
    entry.get_by_role("button", name="▶ 0:04").click()
    expect(seen.screen).to_contain_text("second 4")
    entry.hover()
    entry.get_by_title("Its block of the tutorial").click()
    seen.arrive("#/run/night/tutorial/b2")
    page.go_back()
    page.locator(".changes").get_by_role("link", name=OWN[:10]).click()
    expect(page.locator(".commit[aria-current]")).to_contain_text("Take from the shelf")
    page.locator(".commit[aria-current]").get_by_role("link", name="test_give").click()
    expect(seen.heading).to_contain_text("test_give")
    page.locator(".merged a").click()
    seen.arrive(f"#/run/night/branch/{FIX}")


@pytest.mark.accept("M16")
def test_a_row_leads_to_what_its_agent_raised(file: Path, context: BrowserContext) -> None:
    seen = opened(file, context, "take")
    seen.page.locator(".raised a").click()
    seen.arrive("#/run/night/matter/1")
    expect(seen.page.locator(".matter[aria-current] .inside")).to_contain_text("nothing removes an item")
    seen.page.locator(".matter[aria-current]").get_by_role("link", name="test_help").click()
    expect(seen.heading).to_contain_text("test_help")
