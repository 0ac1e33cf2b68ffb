"""The tutorial as a document: from each block to its tests and back."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, expect
from tests.support.browser import Visit, page_file, visit
from tests.support.page_sample import Sample, shop


@pytest.fixture
def seen(tmp_path: Path, context: BrowserContext) -> Visit:
    sample = shop()
    return visit(context, page_file(tmp_path, sample.index(), sample.chunks), "#/run/r1/tutorial")


def block(seen: Visit, words: str) -> Locator:
    return seen.page.locator(".block", has_text=words)


def statuses(block: Locator) -> list[str | None]:
    return [mark.get_attribute("aria-label") for mark in block.locator("svg.mark").all()]


@pytest.mark.accept("Y15")
def test_blocks_stand_in_their_sections_with_their_tests_and_last_status(seen: Visit) -> None:
    expect(seen.page.locator(".document h2")).to_have_text(["First steps", "Sharing"])
    assert statuses(block(seen, "acme --help")) == ["passed", "passed"]
    assert statuses(block(seen, "acme create")) == ["failed"]
    assert statuses(block(seen, "acme list --watch")) == ["timeout", "passed"]
    left_out = block(seen, "acme list --watch").locator(".absent")
    expect(left_out).to_contain_text("test_list_of_none")


@pytest.mark.accept("Y15", "Y5", "A1")
def test_blocks_without_tests_and_gaps_are_marked(seen: Visit) -> None:
    expect(block(seen, "acme push")).to_contain_text("no test cites this block")
    expect(block(seen, "Managing snapshots")).to_contain_text("a gap: no commands yet")
    expect(seen.page.locator(".missing")).to_have_count(2)
    seen.page.get_by_role("button", name="without a test").click()
    expect(seen.page.locator(".block")).to_have_count(1)
    expect(block(seen, "acme push")).to_be_visible()
    seen.page.get_by_role("button", name="gaps").click()
    expect(seen.page.locator(".block")).to_have_count(1)
    expect(seen.page.locator(".block .shell")).to_have_text("# Managing snapshots")
    seen.page.get_by_role("button", name="with a failing test").click()
    expect(seen.page.locator(".block")).to_have_count(2)


@pytest.mark.accept("Y15", "V3")
def test_links_lead_from_block_to_test_and_from_test_to_block(seen: Visit) -> None:
    seen.page.get_by_role("link", name="test_create_connects").click()
    expect(seen.heading).to_contain_text("test_create_connects")
    seen.page.get_by_role("link", name="Tutorial, line 9").click()
    seen.arrive("#/run/r1/tutorial/b2")
    expect(seen.page.locator(".block[aria-current]")).to_contain_text("acme create fix-login")
    expect(seen.page.locator(".block[aria-current]")).to_be_in_viewport()
    seen.page.go_back()
    expect(seen.heading).to_contain_text("test_create_connects")


@pytest.mark.accept("Y15", "U4")
def test_a_key_leads_to_the_tutorial_and_back_and_search_narrows_it(seen: Visit) -> None:
    seen.page.get_by_role("searchbox").fill("snapshots")
    expect(seen.page.locator(".block")).to_have_count(1)
    seen.page.keyboard.press("Escape")
    seen.page.keyboard.press("t")
    expect(seen.page.locator(".list")).to_be_visible()
    seen.page.keyboard.press("Escape")
    seen.page.keyboard.press("t")
    expect(seen.page.locator(".block")).to_have_count(7)


def test_without_a_tutorial_there_is_no_such_view(tmp_path: Path, context: BrowserContext) -> None:
    sample = Sample()
    sample.test("test_it")
    seen = visit(context, page_file(tmp_path, sample.index(), sample.chunks), "#/run/r1/tutorial")
    expect(seen.page.locator(".message")).to_contain_text("made without a tutorial")
    expect(seen.page.get_by_role("link", name="Tutorial", exact=True)).to_have_count(0)
