"""A pipeline's run at a glance: causes, facts, rows in sections, what agents raised, and the ways through it."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import BrowserContext, Locator, expect
from tests.support.browser import Visit, page_file, soon, visit
from tests.support.page_sample import T0, shop
from tests.support.pipeline_sample import FIX, PipelineSample, node, pipeline

from mngr_view.records import Index, Run, Work


@pytest.fixture
def file(tmp_path: Path) -> Path:
    sample = pipeline()
    return page_file(tmp_path, sample.index(), sample.chunks)


@pytest.fixture
def seen(file: Path, context: BrowserContext) -> Visit:
    return visit(context, file)


def cause(seen: Visit, words: str) -> Locator:
    return seen.page.locator(".causes .cause", has_text=words)


@pytest.mark.accept("J4")
def test_causes_come_first_and_open_to_their_tests(seen: Visit) -> None:
    page = seen.page
    expect(page.locator(".headline")).to_contain_text("4 failures, 3 causes")
    expect(page.locator(".headline")).to_contain_text("2 fixed")
    expect(page.locator(".standing")).to_have_text("on the branch: 1 passes, 1 fails (it failed before)")
    first = page.locator(".report > section").first
    expect(first).to_have_attribute("aria-label", "Causes")
    stock = cause(seen, "only 3 left")
    for words in ("2\u00d7", "test", "StockError", "shop/shelf.py:take", "1 of 2 fixed"):
        expect(stock).to_contain_text(words)
    expect(stock.locator(".title")).to_have_text("only 3 left")
    expect(stock.locator(".links")).to_have_count(0)
    stock.locator("summary").click()
    expect(stock.locator(".links li")).to_have_count(2)
    expect(stock.locator(".links li").first).to_contain_text("fixed")
    expect(stock).to_contain_text("Fixed by Take from the shelf")
    expect(stock).to_contain_text("It also shows as: KeyError: 'flour'")
    expect(stock.locator(".complaint")).to_contain_text("acme.errors.StockError: only 3 left")
    expect(cause(seen, "expected '1'")).to_have_class("cause fixed")
    lost = cause(seen, "no sign of life")
    expect(lost).to_have_class("cause")
    lost.locator("summary").click()
    expect(lost).to_contain_text("Likely cause: infrastructure: no sign of life")
    stock.get_by_role("link", name="test_sync").click()
    expect(seen.heading).to_contain_text("test_sync")


@pytest.mark.accept("J2", "J4", "J1")
def test_every_row_is_once_in_its_section_findings_first(seen: Visit) -> None:
    titles = [
        "Implementation fixes",
        "Tests and docs",
        "Blocked",
        "Agent was wrong",
        "No result",
        "Unreadable results",
        "Added tests",
        "Already passing",
    ]
    expect(seen.page.locator("nav.list .group a")).to_have_text(titles)
    names = [test.name for test in pipeline().tests]
    expect(seen.names).to_have_count(len(names))
    listed = seen.names.all_inner_texts()
    assert sorted(listed) == sorted(names)
    expect(seen.page.locator(".report .section .table .name bdi")).to_have_text(listed)
    fixes = seen.page.get_by_label("Implementation fixes", exact=True)
    expect(fixes.locator("h3")).to_contain_text("The agent changed the code under test.")
    expect(fixes.locator("h3 .count")).to_have_text("2")
    expect(fixes.locator(".rank")).to_have_text(["1", "1"])
    expect(seen.page.locator(".report header")).to_contain_text("9 tests and 1 that agents added")


@pytest.mark.accept("M15")
def test_a_row_shows_claim_and_check_and_a_lie_is_loud(seen: Visit) -> None:
    lie = seen.page.get_by_label("Agent was wrong", exact=True).locator(".claims")
    expect(lie).to_have_class("claims disagree")
    expect(lie).to_contain_text("says passed")
    expect(lie).to_contain_text("check failed")
    honest = seen.page.get_by_label("Already passing", exact=True).locator(".claims").first
    expect(honest).to_have_class("claims")
    expect(honest).to_contain_text("says passed")
    expect(seen.page.locator(".row", has_text="test_list").locator(".disagree")).to_have_count(1)
    expect(seen.page.locator(".row .disagree")).to_have_count(1)


@pytest.mark.accept("M16")
def test_what_agents_raised_is_grouped_and_counted_whatever_came_of_their_tests(seen: Visit) -> None:
    matters = seen.page.locator(".matters")
    expect(matters.locator("h3")).to_have_text("Raised by agents 3")
    expect(matters.locator("h4")).to_have_text(["interface", "environment"])
    expect(matters.locator(".kind").first.locator(".count")).to_have_text(["2\u00d7", "1\u00d7"])
    matters.locator("summary").first.click()
    inside = matters.locator(".inside")
    for words in ("nothing removes an item", "shop/cli.py", "test_take", "test_help"):
        expect(inside).to_contain_text(words)


def test_facts_the_branch_and_what_next_are_at_hand(context: BrowserContext, seen: Visit) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    known = seen.page.locator(".report > .known")
    for words in ("0123456789ab", "slots", "$1.25", "gate suite"):
        expect(known).to_contain_text(words)
    expect(seen.page.locator(".report .state")).to_have_text("finished")
    titles = ["tests and docs", "Take from the shelf", "Print JSON"]
    expect(seen.page.locator(".report .commits .title")).to_have_text(titles)
    expect(seen.page.locator(".report .commits li").first).to_contain_text("1 to watch")
    recipe = seen.page.get_by_label("What next").locator(".recipes li")
    recipe.get_by_role("button", name="Copy this command").click()
    expect(recipe).to_contain_text("copied")
    assert seen.page.evaluate("navigator.clipboard.readText()") == "git merge tmr/night/integrated"


@pytest.mark.accept("U4", "V3")
def test_keys_lead_to_causes_branch_and_lanes_and_back(seen: Visit) -> None:
    page, press = seen.page, seen.page.keyboard.press
    press("b")
    expect(page.get_by_role("main", name="Branch")).to_be_visible()
    press("j")
    press("j")
    expect(page.locator(".commit[aria-current]")).to_contain_text("Take from the shelf")
    seen.arrive(f"#/run/night/branch/{FIX}")
    press("l")
    expect(page.get_by_role("main", name="Timeline")).to_be_visible()
    press("l")
    expect(page.locator(".headline")).to_be_visible()
    press("j")
    press("j")
    expect(seen.heading).to_contain_text("test_give")
    press("n")
    expect(seen.heading).to_contain_text("test_sync")
    press("c")
    seen.arrive("#/run/night/causes")
    expect(page.locator(".headline")).to_be_in_viewport()
    press("?")
    for words in ("causes", "branch and back", "lanes of the timeline"):
        expect(page.get_by_role("dialog")).to_contain_text(words)
    press("Escape")
    press("Escape")
    seen.arrive("#/run/night")


@pytest.mark.accept("U4")
@pytest.mark.parametrize(
    ("place", "chosen", "words"),
    [
        ("#/run/night/causes/c2", ".cause[aria-current]", "no sign of life"),
        ("#/run/night/section/clean", ".section[aria-current]", "test_total"),
        ("#/run/night/matter/3", ".matter[aria-current]", "The server is slow"),
        (f"#/run/night/branch/{FIX[:10]}", ".commit[aria-current]", "Take from the shelf"),
        ("#/run/night/timeline", ".timeline", "9 agents"),
    ],
)
def test_an_address_leads_to_each_part(
    file: Path, context: BrowserContext, place: str, chosen: str, words: str
) -> None:
    seen = visit(context, file, place)
    expect(seen.page.locator(chosen)).to_contain_text(words)
    expect(seen.page.locator(chosen)).to_be_in_viewport()
    assert seen.complaints == []


@pytest.mark.accept("U4")
@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("#/run/night/causes/nobody", "no cause “nobody”"),
        ("#/run/night/section/nobody", "no section “nobody”"),
        ("#/run/night/matter/99", "no matter “99”"),
        ("#/run/night/branch/nobody", "no commit “nobody”"),
        (f"#/run/night/test/{node('gone').replace('/', '%2F')}", "This run has no test"),
    ],
)
def test_an_address_that_leads_nowhere_is_told(
    file: Path, context: BrowserContext, place: str, said: str
) -> None:
    seen = visit(context, file, place)
    expect(seen.page.locator("body")).to_contain_text(said)
    assert seen.complaints == []


@pytest.mark.accept("U4")
def test_search_finds_what_agents_wrote_and_keeps_the_sections(seen: Visit) -> None:
    box = seen.page.get_by_role("searchbox")
    box.fill("passes now")
    expect(seen.page.locator(".row")).to_have_count(1)
    expect(seen.page.locator(".group a")).to_have_text(["Agent was wrong"])
    box.fill("wrong way round")
    expect(seen.page.locator(".row")).to_have_count(8)
    expect(seen.page.locator(".row .found").first).to_have_text("The subtraction is the wrong way round.")


@pytest.mark.accept("R14", "J1")
def test_a_run_without_failures_branch_or_lanes_says_so(tmp_path: Path, context: BrowserContext) -> None:
    sample = PipelineSample()
    sample.row("idle", "queued", "not run", Work())
    seen = visit(context, page_file(tmp_path, sample.index(), sample.chunks))
    expect(seen.page.locator(".headline")).to_have_text("No failures")
    seen.page.keyboard.press("b")
    expect(seen.page.locator(".message")).to_contain_text("Nothing was integrated")
    seen.page.keyboard.press("l")
    expect(seen.page.locator(".message")).to_contain_text("No agent has been at work")
    seen.page.keyboard.press("l")
    seen.page.keyboard.press("j")
    expect(seen.heading).to_contain_text("test_idle")
    expect(seen.page.locator(".warning")).to_have_count(0)
    assert seen.complaints == []


@pytest.mark.accept("V3")
def test_test_runs_beside_it_stay_as_they_are(tmp_path: Path, context: BrowserContext) -> None:
    tests, agents = shop(), pipeline()
    index = Index("Both", T0, (replace(tests.run(), id="day"), agents.run(), Run("none", "none", T0, ())))
    seen = visit(context, page_file(tmp_path, index, tests.chunks | agents.chunks), "#/run/day")
    expect(seen.page.locator(".overview")).to_contain_text("3 failing")
    expect(seen.page.locator(".views a")).to_have_text(["Tests", "Tutorial"])
    expect(seen.page.locator(".report, .group")).to_have_count(0)
    for key in ("c", "b", "l"):
        seen.page.keyboard.press(key)
    seen.page.keyboard.press("?")
    expect(seen.page.get_by_role("dialog")).to_be_visible()
    expect(seen.page.get_by_role("dialog")).not_to_contain_text("lanes")
    assert seen.place == "/run/day"


@pytest.mark.accept("U4")
def test_dark_and_narrow_it_is_all_there(file: Path, context: BrowserContext) -> None:
    seen = visit(context, file)
    seen.page.emulate_media(color_scheme="dark")
    expect(seen.page.locator(".headline")).to_have_css("color", re.compile(r"rgb\((1[5-9]\d|2\d\d),"))
    seen.page.set_viewport_size({"width": 390, "height": 800})
    row = f"/test/{node('take').replace('/', '%2F')}"
    for place, part in (("", ".headline"), ("/branch", ".commit"), ("/timeline", ".lane"), (row, ".turn")):
        seen.page.goto(f"{file.as_uri()}#/run/night{place}")
        expect(seen.page.locator("main").locator(part).first).to_be_visible()
        assert soon(lambda: seen.page.evaluate("document.documentElement.scrollWidth") <= 390)
        assert soon(lambda: seen.page.locator("main").evaluate("el => el.scrollWidth") <= 390)
    seen.page.locator("a.back").click()
    expect(seen.page.locator(".headline")).to_be_visible()
    expect(seen.page.locator("nav.list")).to_be_hidden()
    seen.page.get_by_role("searchbox").fill("take")
    expect(seen.page.locator("nav.list .row")).to_have_count(1)
    expect(seen.page.locator("nav.list")).to_be_visible()
